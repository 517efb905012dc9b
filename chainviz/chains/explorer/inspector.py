"""The inspector's view of one node: its numbers, parts, calls, problems, and what each provider says about it."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.chains.explorer.row_views import row_view
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.numbers import bar_step, count_text, share_text
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import AI
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import BodyPair
from chainviz.core.providers import PROVIDERS
from chainviz.store.content.message_shapes import PartShape, StoredShape
from chainviz.store.query.windows import WindowRow, window
from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.formatting.token_estimate import token_text
from chainviz.web.query_params import url_or_nothing

MOST_LISTED = 40
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
    state: str
    icon: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class NodePage:
    path: str
    title: str
    role: str
    badge: str
    base_url: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[PartSize, ...]
    parts_left: int
    calls: tuple[CallId, ...]
    calls_left: int
    call_counts: tuple[int, int, int]
    """Completed, pending, unmatched."""
    problems: tuple[Problem, ...]
    providers: tuple[ProviderWord, ...]
    earlier_url: str = ""
    """What the node was in earlier versions; "" where a step never wrote any of it."""


def node_page(subject: Subject, path: Path) -> NodePage:
    chain = subject.stored
    chain.span(path)  # PathError where there is no such node
    row = window(chain, path.node, "down", 1).rows[0]
    view = row_view(row)
    messages = [] if row.kind == "section" else chain.rows(row.start, row.start + row.messages)
    shapes = [found.shape for found in messages]
    parts = [(shape, part) for shape in shapes for part in shape.parts]
    calls, counts = _calls(shapes) if row.kind == "pair" else ((), (0, 0, 0))
    return NodePage(
        path=str(row.path),
        title=_title(row, view.name),
        role=view.role,
        badge=row.type.value if row.type else "",
        base_url=subject.base_url,
        facts=_facts(subject, row, shapes),
        parts=tuple(_part_size(shape, part, row.size) for shape, part in parts[:MOST_LISTED]),
        parts_left=max(0, len(parts) - MOST_LISTED),
        calls=calls[:MOST_LISTED],
        calls_left=max(0, len(calls) - MOST_LISTED),
        call_counts=counts,
        problems=tuple(problem for problem in row.problems if not problem.provider)[:MOST_LISTED],
        providers=_providers(row),
        earlier_url=earlier_address(subject, str(row.path)) if chain.bodies.are_written(messages) else "",
    )


def earlier_address(subject: Subject, path: str) -> str:
    """Of the newest content only: what is brought back goes there."""
    has_earlier = subject.is_head and (subject.chain.version > 1 or subject.draft_id is not None)
    url = url_or_nothing("drafts:earlier", subject.chain.pk, path) if has_earlier else ""
    return f"{url}?{subject.edit_query}" if url else ""


def _title(row: WindowRow, name: str) -> str:
    if row.kind == "section":
        return f"Section {row.path.section}"
    if row.kind == "header":
        return f"{name} message of section {row.path.section}"
    return f"Pair {row.path.section}.{row.path.pair}"


def _facts(subject: Subject, row: WindowRow, shapes: list[StoredShape]) -> tuple[tuple[str, str], ...]:
    whole = subject.snapshot.size
    facts = [
        ("Size", byte_text(row.size)),
        ("Tokens", token_text(row.size)),
        ("Share of the chain", share_text(row.size, whole)),
    ]
    if row.messages == 1:
        facts.append(("Message", f"{row.start + 1:,} of {subject.snapshot.messages:,}"))
    else:
        facts.append(("Messages", f"{row.start + 1:,} to {row.start + row.messages:,} of {subject.snapshot.messages:,}"))
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
    for provider in PROVIDERS:
        errors, warnings, _ = row.counts.get(provider.name, [0, 0, 0])
        texts = tuple(problem.text for problem in row.problems if problem.provider == provider.name)[:5]
        if errors:
            said.append(ProviderWord(provider.label, "problem", "failed", texts or (count_text(errors, "error"),)))
        elif warnings:
            said.append(ProviderWord(provider.label, "changed", "info", texts or (count_text(warnings, "warning"),)))
        else:
            said.append(ProviderWord(provider.label, "ok", "ok", texts))
    return tuple(said)
