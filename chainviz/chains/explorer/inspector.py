"""The inspector: one node with its numbers, parts, calls and problems, or the facts of the whole chain if no node is selected."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.overview import Growth, Overview
from chainviz.chains.explorer.row_views import row_notes, row_view
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.charts import GrowthLines, growth_svg
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.usage import ContextMeter, Facts, by_model, context_meter, node_facts
from chainviz.chains.verdicts import VerdictView, verdict_view, verdicts_by_provider
from chainviz.core.chain.messages import AI
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import BodyPair
from chainviz.core.counts import count_text
from chainviz.core.formats import read_only
from chainviz.core.usage.model_catalog import tokenizer, tokens_of
from chainviz.store.content.message_shapes import PartShape, StoredShape
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.query.windows import WindowRow, window
from chainviz.web.formatting import bar_step, byte_text, round_tokens_text, share_text, token_text, tokens_text

MOST_TOOLS = 6


@dataclass(frozen=True, slots=True)
class ToolFact:
    name: str
    calls: str
    size: str
    bar: int
    url: str
    """The chart of bytes with its results selected."""


@dataclass(frozen=True, slots=True)
class TurnFact:
    turn: str
    url: str
    message: int
    prompt: str
    stored: str


@dataclass(frozen=True, slots=True)
class GrowthFacts:
    chart: SafeString
    model: str
    """The model whose context window is drawn; "" if no window is known."""
    is_recorded: bool
    is_mean: bool
    passing: TurnFact | None
    window: str
    table: tuple[TurnFact, ...]


@dataclass(frozen=True, slots=True)
class ChainFacts:
    size: str
    tokens: str
    messages: str
    pairs: str
    meter: ContextMeter | None
    growth: GrowthFacts | None
    tools: tuple[ToolFact, ...]
    tools_title: str
    recorded_turns: str
    """The turns with recorded tokens, in words; "" if there are none."""


def chain_facts(subject: Subject, overview: Overview) -> ChainFacts:
    total = subject.stored.outline.listing.total
    tools = unpack_charts(subject.outline.charts).tools
    usage, growth = overview.usage, overview.growth
    calls = sum(sums[0] for sums in tools.values())
    recorded = sum(each.calls for each in by_model(total.usage).values())
    window = overview.window
    # recorded values do not apply to a chain that was changed since
    call = None if subject.snapshot.operation else overview.last_call
    return ChainFacts(
        byte_text(subject.snapshot.size),
        token_text(subject.snapshot.size),
        f"{subject.snapshot.messages:,}",
        f"{total.pairs:,}",
        context_meter(window, call.usage.input if call else None, subject.snapshot.size) if window else None,
        _growth(subject, usage.model, growth) if growth is not None else None,
        _tools(subject, tools),
        f"{count_text(len(tools), 'tool')} · {count_text(calls, 'call')}" if tools else "",
        f"{recorded:,} of {count_text(total.pairs, 'turn')}" if total.usage else "",
    )


def _tools(subject: Subject, tools: dict[str, list[int]]) -> tuple[ToolFact, ...]:
    largest = sorted(tools.items(), key=lambda item: (-item[1][1] - item[1][3], item[0]))[:MOST_TOOLS]
    return tuple(
        ToolFact(
            marks(one_line(name, 60)) or "no name",
            count_text(calls, "call"),
            byte_text(call_size + result_size),
            bar_step(call_size + result_size, subject.snapshot.size),
            f"{subject.base_url}bytes?{urlencode({'tool': name}, errors='surrogatepass')}",
        )
        for name, (calls, call_size, _, result_size, _) in largest
    )


def _growth(subject: Subject, model: str, growth: Growth) -> GrowthFacts:
    facts = {point.turn: _turn(subject, point.turn, point.message, point.prompt, point.stored) for point in growth.table()}
    passing = growth.passing
    shown_model = marks(one_line(model, 60))
    return GrowthFacts(
        mark_safe(growth_svg(_lines(growth), _growth_sentence(growth, shown_model))),  # the renderer escapes
        shown_model if growth.window else "",
        growth.most_recorded is not None,
        growth.is_mean,
        _turn(subject, passing.turn, passing.message, passing.prompt, passing.stored) if passing else None,
        round_tokens_text(growth.window) if growth.window else "",
        tuple(facts.values()),
    )


def _lines(growth: Growth) -> GrowthLines:
    points = growth.points
    recorded = [(point.turn, point.prompt) for point in points if point.prompt is not None]
    stored = [(point.turn, point.stored) for point in points]
    return GrowthLines(recorded, stored, growth.window, growth.turns, growth.passing.turn if growth.passing else None)


def _growth_sentence(growth: Growth, model: str) -> str:
    """Return a sentence that describes the chart."""
    said = [f"The stored chain grows to {tokens_text(growth.points[-1].stored)} tokens (estimate) in {growth.turns:,} turns"]
    if growth.most_recorded is not None:
        said.append(f"the largest recorded prompt has {tokens_text(growth.most_recorded)}")
    if growth.window:
        said.append(f"the context window of {model} is {round_tokens_text(growth.window)}")
    return "; ".join(said)


def _turn(subject: Subject, turn: int, message: int, prompt: int | None, stored: int) -> TurnFact:
    recorded = "" if prompt is None else tokens_text(prompt)
    return TurnFact(f"{turn:,}", f"{subject.base_url}rows?near={message}", message, recorded, tokens_text(stored))


MOST_LISTED = 40
MOST_COUNTED = 200_000
"""The largest node, in bytes, whose tokens are counted while its page is rendered."""
MOST_MESSAGES = 200
"""The most messages of a pair that are read. The page of tool results lists all results."""
MOST_PARTS = 2_000
"""The most parts of a node whose calls are matched. In larger nodes they are not, and tokens are estimated by size."""
PART_WORDS = {
    "text": "Text", "image": "Image", "binary": "File", "thinking": "Reasoning", "tool_call": "Call",
    "tool_result": "Result", "opaque": "Unknown part",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartSize:
    role: str
    text: str
    size: int
    bar: int


@dataclass(frozen=True, slots=True)
class CallId:
    state: str
    icon: str
    word: str
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ProviderWord:
    label: str
    verdict: VerdictView
    texts: tuple[str, ...]


@dataclass(frozen=True)
class NodePage:
    path: str
    title: str
    role: str
    badge: str
    base_url: str
    facts: Facts
    usage: Facts
    """Recorded tokens and times; empty if the messages record none."""
    parts: tuple[PartSize, ...]
    parts_left: int
    calls: tuple[CallId, ...]
    calls_left: int
    messages_left: int
    """The number of messages in a large pair that were not read. Its calls are not counted."""
    call_counts: tuple[int, int, int]
    """The ids of completed, pending and unmatched calls."""
    problems: tuple[Problem, ...]
    providers: tuple[ProviderWord, ...]
    parse_url: str = ""
    """The address of the page that parses the text of its AI message; "" if it has no text."""
    results_url: str = ""
    """The address of the list of its results and of those after it."""
    earlier_url: str = ""
    """The address of the node's earlier texts; "" if no step ever changed it."""
    notes: str = ""
    """The notes of other apps on a section. Other nodes show their notes when they are open."""


def node_page(subject: Subject, path: Path) -> NodePage:
    chain = subject.stored
    chain.span(path)  # PathError where there is no such node
    row = window(chain, path.node, "down", 1).rows[0]
    view = row_view(row)
    read = 0 if row.kind == "section" else min(row.messages, MOST_MESSAGES)
    messages = chain.rows(row.start, row.start + read)
    messages_left = row.messages - read if read else 0
    shapes = [found.shape for found in messages]
    parts = list(islice(((shape, part) for shape in shapes for part in shape.parts), MOST_LISTED))
    part_count = sum(len(shape.parts) for shape in shapes)
    is_counted = row.kind == "pair" and not messages_left and part_count <= MOST_PARTS
    calls, counts = _calls(shapes) if is_counted else ((), (0, 0, 0))
    return NodePage(
        path=str(row.path),
        title=_title(row, view.name),
        role=view.role,
        badge=row.type.value if row.type else "",
        base_url=subject.base_url,
        facts=_facts(subject, row, shapes),
        usage=node_facts(row.usage, row.times),
        parts=tuple(_part_size(shape, part, row.size) for shape, part in parts),
        parts_left=part_count - len(parts),
        calls=calls[:MOST_LISTED],
        calls_left=max(0, len(calls) - MOST_LISTED),
        messages_left=messages_left,
        call_counts=counts,
        problems=tuple(problem for problem in row.problems if not problem.provider)[:MOST_LISTED],
        providers=_providers(row),
        parse_url=f"{subject.base_url}parse/{row.path}" if row.kind == "pair" and row.has_ai and _has_text(shapes[0]) else "",
        results_url=f"{subject.base_url}observations?from={row.path}" if row.kind != "section" else "",
        earlier_url=earlier_address(subject, str(row.path)) if chain.bodies.are_written(messages) else "",
        notes=_notes(subject, row) if row.kind == "section" else "",
    )


def _notes(subject: Subject, row: WindowRow) -> SafeString:
    return mark_safe(row_notes(subject, row.start, row.start + 1).below.get(row.path, ""))  # its maker escapes


def earlier_address(subject: Subject, path: str) -> str:
    """Return the address of the node's earlier texts; "" unless this is the newest content, because earlier texts are restored there."""
    has_earlier = subject.is_head and (subject.chain.version > 1 or subject.draft is not None)
    has_earlier = has_earlier and not read_only(subject.snapshot.format)
    return subject.change_url("drafts:earlier", path) if has_earlier else ""


def _has_text(shape: StoredShape) -> bool:
    has_one = "text" in map(attrgetter("kind"), shape.parts)  # fast, because a message may have very many calls
    return has_one and any(part.kind == "text" and part.size for part in shape.parts)


def _title(row: WindowRow, name: str) -> str:
    if row.kind == "section":
        return f"Section {row.path.section}"
    if row.kind == "header":
        return f"{name} message of section {row.path.section}"
    return f"Pair {row.path.section}.{row.path.pair}"


def _facts(subject: Subject, row: WindowRow, shapes: list[StoredShape]) -> Facts:
    whole = subject.snapshot.size
    facts = [
        ("Size", byte_text(row.size)),
        *([] if row.usage else [_tokens(subject, row, shapes)]),
        ("Share of the chain", share_text(row.size, whole)),
    ]
    if row.messages > 1:
        facts.append(("Messages", f"{row.messages:,} of {subject.snapshot.messages:,}"))
    if row.kind == "section":
        facts += [
            ("Header", f"{count_text(row.headers, 'message')} · {byte_text(row.header_size)}"),
            ("Body", f"{count_text(row.pairs, 'pair')} · {byte_text(row.size - row.header_size)}"),
        ]
        if row.invalid:
            facts.append(("Pairs that are not valid", f"{row.invalid:,}"))
    if row.kind == "pair":
        facts.append(("Valid", "yes" if row.valid else "no"))
    labels = sorted({marks(one_line(shape.label, 40)) for shape in shapes[:100] if shape.label})
    notes = [marks(one_line(shape.note, 40)) for shape in shapes[:100] if shape.note]
    if labels:
        facts.append(("Role in the source", ", ".join(labels)))
    if notes:
        facts.append(("Ended because", ", ".join(dict.fromkeys(notes))))
    return tuple(facts)


def _tokens(subject: Subject, row: WindowRow, shapes: list[StoredShape]) -> tuple[str, str]:
    """Return the name and value of the token fact: the same estimate as in the row, or the count of a tokenizer if one is installed and the
    node is small."""
    parts = sum(len(shape.parts) for shape in shapes)
    is_large = row.size > MOST_COUNTED or row.messages > MOST_MESSAGES or parts > MOST_PARTS
    if row.kind == "section" or is_large or tokenizer() is None:
        return "Tokens", f"{token_text(row.size)} (estimate)"
    return "Tokens (o200k)", f"{tokens_of(subject.stored.slice(row.start, row.start + row.messages)):,}"


def _part_size(shape: StoredShape, part: PartShape, whole: int) -> PartSize:
    role = shape.role if shape.role in ("system", "human", "ai", "tool") else "tool"
    word = PART_WORDS[part.kind]
    name = marks(one_line(part.name, 60))
    return PartSize(role, f"{word}: {name}" if name else word, part.size, bar_step(part.size, whole))


def _calls(shapes: list[StoredShape]) -> tuple[tuple[CallId, ...], tuple[int, int, int]]:
    has_ai = bool(shapes) and shapes[0].role == AI
    pair = BodyPair(shapes[0] if has_ai else None, tuple(shapes[has_ai:]))
    names = {ref.id: ref.name for shape in reversed(shapes) for ref in (*shape.results, *shape.calls) if ref.name}
    found = pair.tool_calls
    listed = [
        CallId(state, icon, word, marks(one_line(id, 100)) or "(no id)", marks(one_line(names.get(id, ""), 60)))
        for state, icon, word, ids in (
            ("problem", "pending", "pending", found.pending),
            ("problem", "problem", "unmatched", found.unmatched),
            ("ok", "ok", "completed", found.completed),
        )
        for id in ids
    ]
    return tuple(listed), (len(found.completed), len(found.pending), len(found.unmatched))


def _providers(row: WindowRow) -> tuple[ProviderWord, ...]:
    said = []
    for provider, verdict in verdicts_by_provider(row.counts).items():
        texts = tuple(problem.text for problem in row.problems if problem.provider == provider.name)[:5]
        said.append(ProviderWord(provider.label, verdict_view(verdict), texts))
    return tuple(said)
