"""The changes of one node as rows for the page: core's comparison of its messages, in words, labels and lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse

from chainviz.chains.diff import diff_html as diff_rows
from chainviz.chains.diff.address import ChangeLinks, DiffQuery, with_query
from chainviz.chains.diff.compare import WORDS, Compared
from chainviz.chains.diff.diff_html import Fact, Fold, Group, Label, Lines, Listed, More, Row, Sentence, line_elements
from chainviz.chains.diff.part_rows import ResultRows, fold_row, in_lines, label_of, part_rows
from chainviz.core.chain.messages import AI, ROLE_NAMES, TOOL
from chainviz.core.counts import count_text
from chainviz.core.diff import chains as core
from chainviz.core.diff.lines import DiffRow, TextDiff
from chainviz.core.diff.messages import MessageDiff, PartDiff, compare_messages
from chainviz.core.diff.rows import Measure as RowMeasure
from chainviz.core.diff.rows import Row as ChainRow
from chainviz.core.diff.rows import Rows
from chainviz.web.formatting import byte_text
from chainviz.web.http import wants_fragment

OF_A_GROUP = 620
"""The most elements of all texts of one change on a page of many changes."""
ALONE = 880
"""The most elements of a text on a page of its own."""
MOST_LISTED = 12
MOST_MESSAGES = 40
LINES_UNFOLDED = 100


def title_of(row: ChainRow) -> tuple[str, str, bool]:
    """Return the role of its mark, its name, and whether that is the name of a tool."""
    first = row.shapes[0]
    if not row.is_pair:
        return first.role, ROLE_NAMES.get(first.role, first.role), False
    if row.is_summary:
        return "summary", "Summary", False
    names = [call.name for call in first.calls] or [result.name for shape in row.shapes for result in shape.results]
    if first.role == AI and not first.calls:
        return AI, "Answer", False
    return TOOL, ", ".join(dict.fromkeys(name for name in names if name)) or "Result without a call", bool(names)


def teaser_of(row: ChainRow) -> str:
    return str(getattr(row.shapes[0], "preview", ""))[:120]


def sizes_text(kind: str, old: int, new: int) -> str:
    if kind == "added":
        return f"+{byte_text(new)}"
    if kind == "removed":
        return byte_text(-old)
    before, after = byte_text(old), byte_text(new)
    if before != after:
        return f"{before} → {after}"
    return after if old == new else f"{'+' if new > old else ''}{byte_text(new - old)}"


def build_group(compared: Compared, place: int, group: core.Group) -> Group:
    side = group.old if group.new.is_empty else group.new
    rows = compared.old_rows if group.new.is_empty else compared.new_rows
    first = rows.rows(side.start, side.start + 1)[0]
    role, title, is_code = title_of(first)
    assert side.first is not None
    state, icon, _ = WORDS[group.kind]
    links = compared.links
    return Group(
        place=place,
        number=_number(group),
        href=links.before(side.first) if group.new.is_empty else links.after(side.first),
        role=role,
        title=_several(group) or title,
        is_code=is_code and not _several(group),
        state=state,
        icon=icon,
        word=compared.word(group.kind),
        sizes=sizes_text(group.kind, (side if group.old.is_empty else group.old).measure.size, group.new.measure.size),
        rows=_beside(tuple(_limited(_rows(compared, place, group), ChangeLinks(links, place)))),
        edit_href="" if group.new.is_empty else links.edit(side.first),
        comments=links.comments(group.old.first, group.new.first),
        restore="" if group.kind == "moved" or group.old.is_empty else links.restore(group.old.start),
    )


def _number(group: core.Group) -> str:
    old, new = _span(group.old), _span(group.new)
    if group.kind == "moved" and group.other:
        return f"{group.other.number} → {new}"
    return old if not new else new if not old or old == new else f"{old} → {new}"


def _span(side: core.Side) -> str:
    if side.first is None or side.last is None:
        return ""
    first, last = side.first.number, side.last.number
    return first if first == last else f"{first} – {last}"


def _several(group: core.Group) -> str:
    """Return a title for a change of several nodes."""
    if group.kind == "merged":
        return f"{group.old.measure.messages} messages become one"
    if group.kind == "split":
        return f"One message becomes {group.new.measure.messages}"
    if group.kind == "summarised":
        return f"{count_text(group.old.measure.pairs, 'pair')} become one summary"
    if group.kind == "expanded":
        return f"One summary becomes {count_text(group.new.measure.pairs, 'pair')}"
    alone = group.old if group.new.is_empty else group.new
    one_sided = group.kind in ("added", "removed") and alone.first != alone.last
    return count_text(alone.measure.messages, "message") if one_sided else ""


def _rows(compared: Compared, place: int, group: core.Group) -> Iterator[Row]:
    if group.kind == "moved" and group.other:
        yield Sentence("sort", f"Moved from {group.other.number}, unchanged.", compared.links.before(group.other))
        return
    yield from _message_rows(messages_of(compared, group), group, compared, place)


def messages_of(compared: Compared, group: core.Group) -> tuple[MessageDiff, ...]:
    """Compare message by message. For a summary only one side is shown in full, and the nodes it replaces are listed."""
    if group.kind == "summarised":
        return compare_messages((), compared.new.slice(group.new.start, group.new.stop), 0, group.new.start)
    if group.kind == "expanded":
        return compare_messages(compared.old.slice(group.old.start, group.old.stop), (), group.old.start, 0)
    return compared.diff.messages(group)


def texts_of(messages: Iterable[MessageDiff]) -> list[tuple[MessageDiff, PartDiff, str, TextDiff]]:
    """Return every compared text of a change, in order: the number of a text is its place here."""
    return [(message, part, name, text) for message in messages for part in message.parts for name, text in part.texts]


def _message_rows(messages: Sequence[MessageDiff], group: core.Group, compared: Compared, place: int) -> Iterator[Row]:
    if group.kind == "summarised":
        yield _listed(compared.old_rows, group.old, "before")
    if group.kind == "expanded":
        yield _listed(compared.new_rows, group.new, "after")
    changed = [message for message in messages if message.kind != "same"]
    if group.kind in ("merged", "split") and not changed:
        yield Sentence("ok", "Text unchanged; it is only split into messages differently.")
    is_plain = len(changed) == 1 and len(changed[0].parts) == 1 and changed[0].parts[0].part == "text"
    links, number = ChangeLinks(compared.links, place), 0
    results = ResultRows(compared, group, changed)
    for message in changed[:MOST_MESSAGES]:
        moved = results.moved(message)
        yield from results.calls(message)
        if moved is not None:
            yield moved
            number += sum(len(part.texts) for part in message.parts)
            continue
        for field in message.fields:
            yield Fact(field.name, field.old, field.new)
        for part in message.parts:
            if part.kind == "same":
                continue
            yield from part_rows(message, results.with_call_name(part), number, is_plain, links)
            number += len(part.texts)
    if len(changed) > MOST_MESSAGES:
        yield More(f"{len(changed) - MOST_MESSAGES:,} more messages of this node changed", links.lines(number, 0))


def _limited(rows: Iterator[Row], links: ChangeLinks) -> Iterator[Row]:
    """Limit a change with many long texts: it ends with a link to its first text that does not fit."""
    elements = text = 0
    for row in rows:
        if isinstance(row, Label):
            text = row.text
        if isinstance(row, Lines):
            elements += sum(map(line_elements, row.rows))
        if elements > OF_A_GROUP:
            yield More("Show the rest of this change", links.lines(text, 0))
            return
        yield row


def _beside(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Put a summary beside the list of the nodes it replaces."""
    return (replace(rows[0], beside=rows[1:]),) if rows and isinstance(rows[0], Listed) else rows


def _listed(rows: Rows, side: core.Side, which: Literal["before", "after"]) -> Listed:
    found = list(rows.rows(side.start, min(side.stop, side.start + 8 * MOST_LISTED)))[:MOST_LISTED]
    nodes = [(row.path.number, title_of(row)[0], title_of(row)[1], byte_text(row.size)) for row in found]
    left = len(rows.starts(found[-1].stop, side.stop))
    if left:
        nodes.append(("…", "system", f"and {left:,} more", ""))
    title = f"{count_text(side.measure.pairs, 'pair')} · {byte_text(side.measure.size)}"
    return Listed(which, title, tuple(nodes))


def build_alone(compared: Compared, place: int, group: core.Group, number: int, start: int) -> Group:
    """Return one text of one change from row `start` on, without folds."""
    whole = build_group(compared, place, group)
    texts = texts_of(messages_of(compared, group))
    number = min(max(number, 0), len(texts) - 1)
    if number < 0:
        return whole
    message, part, name, text = texts[number]
    all_rows = [row for row in text.rows(context=None) if isinstance(row, DiffRow)]
    start = min(start, max(len(all_rows) - 1, 0))
    stop = _full(all_rows, range(start, len(all_rows)))
    rows: list[Row] = [label_of(message, part, name, text)]
    links = ChangeLinks(compared.links, place)
    if start:
        earlier = _full(all_rows, range(start - 1, -1, -1)) + 1
        rows.append(More("Earlier lines", links.lines(number, earlier)))
    rows += in_lines(all_rows[start:stop])
    if stop < len(all_rows):
        rows.append(More(count_text(len(all_rows) - stop, "more line"), links.lines(number, stop)))
    elif number + 1 < len(texts):
        rows.append(More("The next text of this change", links.lines(number + 1, 0)))
    return replace(whole, rows=tuple(rows))


def unfolded_lines(compared: Compared, asked: DiffQuery) -> Iterator[Row]:
    """Yield the unchanged lines of a text that a fold left out, with a fold for those that are too many."""
    texts = texts_of(messages_of(compared, compared.diff.changes[asked.change - 1]))
    if asked.text >= len(texts):
        return
    rows = texts[asked.text][3].rows(context=None)
    found = [row for row in islice(rows, asked.row, asked.row + min(asked.lines, LINES_UNFOLDED)) if isinstance(row, DiffRow)]
    yield from in_lines(found)
    left = asked.lines - LINES_UNFOLDED
    if left > 0 and found:
        links = ChangeLinks(compared.links, asked.change)
        hidden = asked.row + LINES_UNFOLDED, left
        yield fold_row(f"… {count_text(left, 'unchanged line')}", links, asked.text, hidden)


def _full(rows: Sequence[DiffRow], order: range) -> int:
    """Return the first row, in this order, that does not fit on a single page."""
    elements = 0
    for i in order:
        elements += line_elements(rows[i])
        if elements > ALONE and i != order.start:
            return i
    return order.stop


# Unchanged runs between two changes: folded into one line, or unfolded row by row.


ROWS_UNFOLDED = 60


def fold_of(compared: Compared, group: core.Group, asked: DiffQuery) -> Fold:
    start = group.new.start
    is_open = asked.fold == start
    text = _run_text(group)
    window = {"from": asked.start if asked.start > 1 else "", "until": asked.until or ""}
    href = with_query(compared.links.page, fold=start, **window)
    if not is_open:
        return Fold(text, href, f"{asked.scope}same-{start}")
    return unfolded(compared, group, asked)


def departed(compared: Compared, group: core.Group, asked: DiffQuery) -> Fold:
    """Return one line for a row that only lost a result, which is now in another row."""
    assert group.new.first is not None and group.other is not None
    text = f"{group.new.first.number} · its result is in {group.other.number} now, unchanged"
    href = compared.links.after(group.other)
    return Fold(text, href, f"{asked.scope}same-{group.new.start}", icon="sort")


def unfolded(compared: Compared, group: core.Group, asked: DiffQuery) -> Fold:
    """Return the rows of an unchanged run from a message on."""
    start = min(max(asked.row, group.new.start), group.new.stop - 1)
    found = list(compared.new_rows.rows(start, min(group.new.stop, start + 6 * ROWS_UNFOLDED)))[:ROWS_UNFOLDED]
    rows = []
    for row in found:
        role, title, is_code = title_of(row)
        teaser = teaser_of(row)
        words = f"{title} {teaser}" if teaser and not (is_code and teaser.startswith(title)) else teaser or title
        rows.append((row.path.number, role, words, byte_text(row.size), compared.links.after(row.path)))
    more = None
    if found and found[-1].stop < group.new.stop:
        left = group.new.stop - found[-1].stop
        href = with_query(compared.links.page, fold=group.new.start, row=found[-1].stop)
        more = More(f"{count_text(left, 'more message')}", href)
    return Fold(_run_text(group), "", f"{asked.scope}same-{group.new.start}", is_open=True, rows=tuple(rows), more=more)


def asks_to_unfold(request: HttpRequest, asked: DiffQuery) -> bool:
    return wants_fragment(request) and (asked.fold is not None or asked.lines > 0)


def fold_answer(compared: Compared, asked: DiffQuery) -> HttpResponse:
    """Answer with the fragment that replaces a folded run, or folded lines; 404 if there is no such run."""
    if asked.lines and 0 < asked.change <= len(compared.diff.changes):
        return HttpResponse(diff_rows.render_rows(unfolded_lines(compared, asked)))
    group = None if asked.fold is None else compared.diff.groups.same_at(asked.fold)
    if group is None:
        raise Http404
    return HttpResponse(diff_rows.render([unfolded(compared, group, asked)]))


def _run_text(group: core.Group) -> str:
    measure: RowMeasure = group.new.measure
    what = count_text(measure.pairs, "unchanged pair") if measure.pairs else count_text(measure.messages, "unchanged message")
    first, last = group.new.first, group.new.last
    where = "" if first is None or last is None else _range(first.number, last.number)
    return f"… {what} · {where} · {byte_text(measure.size)}"


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
