"""The cells of a chain's row in the library."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from chainviz.chains.folders import scan
from chainviz.chains.library.search.hits import ChainHits
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.uploads.local_files import state_of
from chainviz.chains.usage import by_model, cost_text
from chainviz.chains.verdicts import VerdictView, own_and_others, short_name, verdict_view
from chainviz.core.chain.unread import describe_unread, unread_from
from chainviz.core.formats import format_label
from chainviz.core.usage.chain_usage import chain_usage
from chainviz.core.usage.duration_text import duration_text
from chainviz.store.outline.edition import RULES
from chainviz.web.formatting.token_estimate import token_text, tokens_text

MOST_UNREAD = 3
"""Kinds of content that was not read which a row names."""
TOOLS = 2
"""Tools that are named in the row."""
NOT_JUDGED = VerdictView("quiet", "clock", "being checked again")
"""The rules have changed since the chain was judged."""


@dataclass(frozen=True, slots=True)
class Tokens:
    texts: tuple[str, ...]
    """One line each in a wide table."""
    note: str


@dataclass(frozen=True, slots=True)
class Row:
    chain: Chain
    format_label: str
    share: str
    """Length of the size bar, 0 to 100."""
    tools: tuple[str, ...]
    more_tools: int
    all_tools: str
    model: str
    tokens: Tokens
    cost: str
    duration: str
    verdicts: tuple[tuple[str, VerdictView], ...]
    """Each with the name of its provider; "" for what all of them say."""
    unread: str
    """What of its file was not read, in words; "" where the chain is fully read."""
    is_running: bool = False
    """The file that it came from has just changed."""
    hits: ChainHits | None = None
    """Where it was found by its content."""


def row_of(chain: Chain, largest: int, path: str = "", hits: ChainHits | None = None) -> Row:
    """`largest`: size of the largest chain shown; `path`: of the file that it came from."""
    # Sizes differ by factors of thousands: a straight scale would show one bar and many dots.
    share = math.log1p(chain.size / 1000) / math.log1p(largest / 1000) * 100 if largest else 0
    names = [marks(one_line(name, 40)) or "(no name)" for name, _ in chain.tools]
    return Row(
        chain=chain,
        format_label=format_label(chain.format),
        share=f"{share:.1f}",
        tools=tuple(names[:TOOLS]),
        more_tools=max(0, len(names) - TOOLS),
        all_tools=", ".join(f"{name} {calls:,}" for name, (_, calls) in zip(names, chain.tools, strict=True)),
        model=marks(one_line(chain.model, 60)),
        tokens=_tokens(chain),
        cost="" if chain.cost is None else cost_text(chain.cost),
        duration=duration_text(chain.duration / 1000) if chain.duration else "",
        verdicts=_verdicts(chain),
        unread=marks(" ".join(describe_unread(each) for each in unread_from(chain.unread[:MOST_UNREAD]))),
        is_running=is_running(path),
        hits=hits,
    )


def is_running(path: str) -> bool:
    """Whether the file that a chain came from has just changed; "" for none."""
    try:
        return bool(path) and scan.is_running(state_of(Path(path))[1])
    except OSError:
        return False


def _tokens(chain: Chain) -> Tokens:
    usage = chain_usage(by_model(chain.usage or {}), {})
    if not usage.is_recorded:
        return Tokens((token_text(chain.size),), "estimate")
    total = usage.total
    notes = [f"{100 * total.cached // max(1, total.input)}% cached"] if total.cached else []
    notes += [f"{tokens_text(total.reasoning)} reasoning"] if total.reasoning else []
    return Tokens((f"{tokens_text(total.input)} in", f"{tokens_text(total.output)} out"), " · ".join(notes))


def _verdicts(chain: Chain) -> tuple[tuple[str, VerdictView], ...]:
    if chain.rules != RULES:
        return (("", NOT_JUDGED),)
    own, all_said = own_and_others(chain.verdicts, chain.format)
    named: dict[VerdictView, list[str]] = {}
    for provider, verdict in own.items() if all_said.state != "ok" else ():
        named.setdefault(verdict_view(verdict), []).append(short_name(provider))
    return (*((", ".join(names), view) for view, names in named.items()), ("", all_said))
