"""Verdicts for pages: the state, icon and words of each, and a short summary for a row or a header.

Problems are counted by who finds them: problems of the structure, and the errors and warnings of each provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chainviz.chains.library.agents import agent_of_format
from chainviz.chains.models import Chain
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.counts import count_text
from chainviz.core.formats import get_format
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.operations.repair.goal import resume_errors, sent_places
from chainviz.core.own_provider import own_provider
from chainviz.core.providers.check import State, Verdict, verdict_from
from chainviz.core.providers.contract import Provider
from chainviz.store.content.chain import StoredChain
from chainviz.store.derived import DerivedKind
from chainviz.store.outline.edition import RULES_EDITION

RESUME_ERRORS = DerivedKind("resume-errors", RULES_EDITION)
UNSENT = DerivedKind("unsent-messages", RULES_EDITION)
MOST_READ = 20_000_000
"""The largest session, in bytes, that is read for a verdict on the messages still sent. In a larger one, all messages count."""
_LOOKS: dict[State, tuple[str, str]] = {"rejected": ("problem", "failed"), "unchecked": ("quiet", "info"), "accepted": ("ok", "ok")}
"""The colour and icon of each state."""


@dataclass(frozen=True, slots=True)
class VerdictView:
    state: str
    icon: str
    text: str


def verdict_view(verdict: Verdict) -> VerdictView:
    """Return a verdict in words: `accepted`, `accepted, 2 warnings`, `4 errors` or `not fully checked`."""
    if verdict.state == "accepted" and verdict.warnings:
        return VerdictView("changed", "info", f"accepted, {count_text(verdict.warnings, 'warning')}")
    return VerdictView(*_LOOKS[verdict.state], verdict.text)


def verdicts_by_provider(counts: Mapping[str, Sequence[int]]) -> dict[Provider, Verdict]:
    """Return the verdicts of all providers. `counts` are the problems by provider, from an outline, which leaves out providers without
    problems."""
    return {provider: verdict_from(counts.get(provider.name, ())) for provider in PROVIDERS}


def next_call_errors(chain: StoredChain, provider: Provider, errors: int) -> int:
    """Return the number of errors for which a provider would refuse the next call of a chain. `errors` are those in all messages. Of
    an agent's session, messages that the agent no longer sends do not count."""
    if not errors or chain.snapshot.size > MOST_READ or not agent_of_format(chain.format):
        return errors

    def count() -> int:
        messages = tuple(chain.slice(0, len(chain)))
        return len(resume_errors(provider, MemoryChain(messages, chain.format, chain.surroundings)))

    return int(RESUME_ERRORS.get(chain.snapshot, count, provider.name))


def unsent_errors(everything: Verdict, next_call: Verdict) -> int:
    """Return the number of errors in messages that the agent no longer sends. `everything` is the verdict on all messages of a session,
    and `next_call` the verdict on those that are sent. It is 0 if the second has more errors than the first."""
    return max(0, everything.errors - next_call.errors)


def unsent_messages(chain: StoredChain) -> frozenset[int]:
    """Return the indices of the messages that the agent does not send when it resumes the session. Reads the whole chain the first time."""

    def find() -> list[tuple[int, int]]:
        messages = tuple(chain.slice(0, len(chain)))
        sent = sorted({-1, *sent_places(get_format(chain.format), messages), len(messages)})
        return [(before + 1, after) for before, after in pairwise(sent) if before + 1 < after]

    return frozenset(index for start, stop in UNSENT.get(chain.snapshot, find) for index in range(start, stop))


def own_and_others(chain: Chain) -> tuple[dict[Provider, Verdict], VerdictView]:
    """Return the verdict of the chain's own provider, and a summary of all verdicts."""
    found = verdicts_by_provider(chain.verdicts)
    accepting = sum(verdict.state == "accepted" for verdict in found.values())
    if accepting == len(found):
        all_said = VerdictView("ok", "ok", f"accepted by all {accepting}")
    elif not accepting and any(verdict.state == "unchecked" for verdict in found.values()):
        all_said = VerdictView("quiet", "info", "not fully checked")
    else:
        all_said = VerdictView("quiet", "info", f"accepted by {accepting} of {len(found)}")
    own = {provider: verdict for provider, verdict in found.items() if provider.name == chain.provider}
    if chain.own_problems is not None:
        own = {provider: replace(verdict, errors=chain.own_problems) for provider, verdict in own.items()}
    return own, all_said


def provider_of(chain: StoredChain) -> Provider:
    """Return the provider of the chain's next call."""
    return own_provider(chain, chain.outline.listing.request)


def is_fully_read(counts: Mapping[str, Sequence[int]]) -> bool:
    """Return True if the chain's document is fully read. `counts` are the problems by provider, with "" for the structure."""
    return not verdict_from(counts.get("", ())).unchecked


def structure_text(problems: int) -> str:
    """Return `3 structure problems` or `structure valid`. Errors of a provider are counted in its verdict, never here."""
    return count_text(problems, "structure problem") if problems else "structure valid"


def rule_words(rule: str) -> str:
    """Return the name of a rule in words: `result-missing` and `anthropic:result-missing` as “Result missing”."""
    return rule.rpartition(":")[2].replace("-", " ").replace("_", " ").capitalize()


def short_name(provider: Provider) -> str:
    """Return the company, if that is enough to distinguish its API from the others."""
    same = [other for other in PROVIDERS if other.speaker == provider.speaker]
    return provider.speaker if len(same) == 1 else provider.label
