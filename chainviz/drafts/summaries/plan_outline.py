"""The outline of a plan: what would be folded in each section, what stays, and why. Knows no form and no writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from chainviz.chains.diff.changes_page import Measure, measures
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.usage import dollars
from chainviz.core.chain.messages import HUMAN, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair, PairType, Section
from chainviz.core.counts import count_text
from chainviz.core.operations.summarize import Piece, Plan, SummarizeOptions, UnchangedNodes
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.plan import Rule
from chainviz.core.operations.summarize.writers.context_window import estimated_usage
from chainviz.core.usage.model_catalog import chain_usage, estimated_tokens
from chainviz.core.usage.recorded import TokenUsage
from chainviz.drafts.summaries.runs import endpoint
from chainviz.llm import Endpoint
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_shapes import StoredShape
from chainviz.web.formatting import byte_text, round_tokens_text, share_text, tokens_text
from chainviz.web.prices import models

NO_ENDPOINT = Endpoint()
SHOWN = 60
"""The most rows of an outline. A button loads the next ones."""
STRIP = 1000
RULES: dict[Rule, str] = {
    "section": "old section",
    "pair": "large pair",
    "rotation": "oldest pairs",
    "qa": "old sections joined",
    "qa-human": "their questions",
}
STATES = {"fold": ("summarised", "summary", "folded"), "kept": ("quiet", "ok", "kept"), "protected": ("open", "lock", "protected")}


@dataclass(frozen=True, slots=True)
class Entry:
    kind: str
    """One of fold, kept and protected."""
    first: Path
    last: Path
    size: int
    after: int
    what: str
    why: str
    key: str = ""
    rule: str = ""
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class OutlineRow:
    kind: str
    state: str
    icon: str
    word: str
    number: str
    href: str
    what: str
    why: str
    sizes: str
    before_width: int
    after_width: int
    rule: str
    key: str
    provisional: bool
    section: str
    """The heading of the section that begins at this row; "" for any other row."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the strip above the outline."""

    kind: str
    x: int
    width: int
    title: str


@dataclass(frozen=True, slots=True)
class PlanPage:
    measures: tuple[Measure, ...]
    strip: tuple[Block, ...]
    rows: tuple[OutlineRow, ...]
    first: int
    next_first: int
    left: int
    pieces: int
    folded: str
    kept: str
    protected: str
    warnings: tuple[str, ...]
    cost: str = ""
    """The estimated cost of the model, in words; "" if no model is set up."""
    model: str = ""
    """The model for which the cost was estimated."""

    @property
    def pieces_text(self) -> str:
        return "1 summary" if self.pieces == 1 else f"{self.pieces:,} summaries"


PLAN_PAGE = TypeAdapter(PlanPage)


def first_page(chain: StoredChain, options: SummarizeOptions, explorer: str) -> PlanPage:
    return plan_page(plan(chain, options), explorer, endpoint=endpoint())


def plan_page(planned: Plan, explorer: str, first: int = 0, *, endpoint: Endpoint = NO_ENDPOINT) -> PlanPage:
    entries = list(_entries(planned))
    shown = entries[first : first + SHOWN]
    sections = planned.chain.tree.sections
    largest = max((entry.size for entry in entries), default=1) or 1
    rows = []
    at = entries[first - 1].first.section if first and entries else 0
    for entry in shown:
        heading = _heading(sections, entry) if entry.first.section != at else ""
        at = entry.first.section
        rows.append(_row(entry, explorer, largest, heading))
    sizes = {kind: sum(entry.size for entry in entries if entry.kind == kind) for kind in STATES}
    return PlanPage(
        measures=plan_measures(planned),
        strip=tuple(_strip(list(_with_headers(sections, entries)))),
        rows=tuple(rows),
        first=first,
        next_first=first + SHOWN,
        left=max(0, len(entries) - first - SHOWN),
        pieces=len(planned.pieces),
        folded=byte_text(sizes["fold"]),
        kept=byte_text(planned.size_before - sizes["fold"] - sizes["protected"]),
        protected=byte_text(sizes["protected"]),
        warnings=planned.warnings,
        cost=estimated_cost(planned, endpoint),
        model=endpoint.model,
    )


def plan_measures(planned: Plan) -> tuple[Measure, ...]:
    before, after = planned.size_before, planned.size_after
    pairs = sum(len(section.body) for section in planned.chain.tree.sections)
    folded = sum(pairs_in(planned.chain.tree.sections, piece) for piece in planned.pieces if piece.rule != "qa-human")
    written = sum(1 for piece in planned.pieces if piece.rule != "qa-human")
    return measures(
        [
            ("Bytes, estimated", before, after, "bytes"),
            ("Tokens, estimated", estimated_tokens(before), estimated_tokens(after), "tokens"),
            ("Body pairs", pairs, pairs - folded + written, "count"),
        ]
    )


def pairs_in(sections: Sequence[Section[Shape]], piece: Piece | UnchangedNodes) -> int:
    if piece.first.pair is None or piece.last.pair is None:
        return sum(len(section.body) for section in sections[piece.first.section - 1 : piece.last.section])
    return piece.last.pair - piece.first.pair + 1


def _entries(planned: Plan) -> Iterator[Entry]:
    sections = planned.chain.tree.sections
    found = [_of_piece(sections, piece) for piece in planned.pieces]
    found += [_of_kept(sections, kept) for kept in planned.kept]
    yield from sorted(found, key=lambda entry: (entry.first.section, entry.first.pair or 0, entry.rule == "their questions"))


def _of_piece(sections: Sequence[Section[Shape]], piece: Piece) -> Entry:
    what = "what the person said" if piece.rule == "qa-human" else _nodes_name(sections, piece)
    return Entry(
        "fold", piece.first, piece.last, piece.size, piece.expected, what, piece.reason, piece.key, RULES[piece.rule], piece.provisional
    )  # fmt: skip


def _of_kept(sections: Sequence[Section[Shape]], kept: UnchangedNodes) -> Entry:
    if kept.first.pair is None or kept.last.pair is None:
        size = sum(section.size for section in sections[kept.first.section - 1 : kept.last.section])
    else:
        size = sum(pair.size for pair in sections[kept.first.section - 1].body[kept.first.pair - 1 : kept.last.pair])
    kind = "protected" if kept.protected else "kept"
    return Entry(kind, kept.first, kept.last, size, size, _nodes_name(sections, kept), kept.why)


def _nodes_name(sections: Sequence[Section[Shape]], node: Piece | UnchangedNodes) -> str:
    """Name the nodes: the tools of a single pair, else the number of pairs."""
    pairs = pairs_in(sections, node)
    if pairs == 1 and node.first.pair:
        return pair_name(sections[node.first.section - 1].body[node.first.pair - 1])
    joined = node.last.section - node.first.section + 1
    return f"{count_text(joined, 'section')} with {count_text(pairs, 'pair')}" if joined > 1 else count_text(pairs, "pair")


def pair_name(pair: BodyPair[Shape]) -> str:
    if pair.type is PairType.COMPLETION:
        return "an answer"
    if pair.type is PairType.SUMMARIZATION:
        return "a summary"
    names = list(dict.fromkeys(marks(one_line(call.name, 40)) for call in pair.ai.calls)) if pair.ai is not None else []
    return ", ".join(names[:4]) + ("…" if len(names) > 4 else "") if names else "a pair without calls"


def range_text(first: Path, last: Path) -> str:
    if first == last:
        return first.number
    return f"{first.number}–{last.number}"


def _row(entry: Entry, explorer: str, largest: int, heading: str) -> OutlineRow:
    state, icon, word = STATES[entry.kind]
    is_fold = entry.kind == "fold"
    return OutlineRow(
        kind=entry.kind,
        state=state,
        icon=icon,
        word=word,
        number=range_text(entry.first, entry.last),
        href=f"{explorer}at/{entry.first}#{entry.first.dom_id}",
        what=entry.what,
        why=entry.why,
        sizes=f"{byte_text(entry.size)} → ≈ {byte_text(entry.after)}" if is_fold else byte_text(entry.size),
        before_width=max(1, 100 * entry.size // largest),
        after_width=max(1, 100 * entry.after // largest),
        rule=entry.rule,
        key=quote(entry.key),
        provisional=entry.provisional,
        section=heading,
    )


def _heading(sections: Sequence[Section[Shape]], entry: Entry) -> str:
    if entry.last.section != entry.first.section:
        return f"Sections {entry.first.section} to {entry.last.section}"
    header = sections[entry.first.section - 1].header
    human = next((m for m in header if m.role == HUMAN and isinstance(m, StoredShape)), None)
    said = marks(one_line(human.preview, 90)) if isinstance(human, StoredShape) else ""
    return f"Section {entry.first.section}" + (f" · {said}" if said else "")


def _with_headers(sections: Sequence[Section[Shape]], entries: Sequence[Entry]) -> Iterator[tuple[str, int]]:
    """Yield the kind and size of each range of the chain. Headers have no entry and count as kept."""
    begun = 0
    for entry in entries:
        if entry.first.pair is not None and entry.first.section != begun:
            section = sections[entry.first.section - 1]
            yield "kept", section.size - sum(pair.size for pair in section.body)
        begun = entry.last.section
        yield entry.kind, entry.size


def _strip(stretches: Sequence[tuple[str, int]]) -> Iterator[Block]:
    """Join neighbours of a kind into one block; blocks too narrow to see are added to the one before."""
    whole = sum(size for _, size in stretches) or 1
    x = filled = 0
    kind, title = "", ""
    for each, size in stretches:
        end = STRIP * (filled + size) // whole
        if kind and each != kind and end - x >= 2:
            start = STRIP * filled // whole
            if start > x:
                yield Block(kind, x, start - x, title)
            x, kind = start, each
        kind = kind or each
        title = f"{STATES[kind][2]}, {share_text(size, whole)}"
        filled += size
    if kind:
        yield Block(kind, x, STRIP - x, title)


# The cost of summaries in words: estimated before, and counted by the model's server after.


def estimated_cost(plan: Plan, endpoint: Endpoint) -> str:
    """Describe the estimated cost; "" if nothing would be written, or no model is set up."""
    if endpoint.problem or not plan.pieces:
        return ""
    window = plan.options.context_window or endpoint.window
    usage = estimated_usage(plan, window)
    price = endpoint.price(usage)
    model = marks(one_line(endpoint.model, 60))
    facts = [f"≈ {tokens_text(usage.input)} tokens in, {tokens_text(usage.output)} out"]
    facts.append("no list price" if price is None else f"≈ {dollars(price)} at list prices")
    window_text = f"prompts of at most {round_tokens_text(window)} tokens" if window else "its context window is not known"
    return f"{count_text(usage.calls, 'prompt')} to {model}: {' · '.join(facts)} (estimate; {window_text})"


def counted_cost(pieces: Iterable[dict[str, Any]]) -> str:
    """Describe the counted cost; "" if no server counted."""
    by_model: dict[str, TokenUsage] = {}
    counted = 0
    for usage in pieces:
        if usage:
            counted += 1
            by_model[usage["model"]] = by_model.get(usage["model"], TokenUsage()) + TokenUsage(*usage["tokens"])
    if not counted:
        return ""
    total, cost = chain_usage(by_model, {}).total, chain_usage(by_model, {}).cost(models())
    tokens = f"{tokens_text(total.input)} tokens in, {tokens_text(total.output)} out"
    price = "no list price" if cost is None else f"{dollars(cost)} at list prices"
    summaries = "1 summary" if counted == 1 else f"{counted:,} summaries"
    return f"Used for {summaries}: {tokens} · {price}"
