"""List the sessions of a team's sources, and read one session into its rows, in one transaction.

New sessions get a row, changed ones a new state, and rows of deleted ones are deleted. A session that cannot be read has a row with the
reason.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models as db
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chainviz.core.chain.surroundings import unread_rows
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.session_facts import FACTS_EDITION, SessionFacts, read_facts
from chainviz.core.sources import Session as FoundSession
from chainviz.core.sources import SessionState, Store, find_stores, get_store
from chainviz.core.sources.folder_files import SessionFolder
from chainviz.core.sources.store_kinds import FolderStore
from chainviz.core.usage.recorded import TokenUsage
from chainviz.jobs.lease import storable
from chainviz.sessions_index.models import (
    Session,
    SessionDay,
    SessionError,
    SessionProblem,
    SessionRepeat,
    SessionTool,
    Source,
    note_changes,
)
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.web.prices import millionths, models, price_edition

AT_ONCE = 500
"""The number of rows written in one statement."""
_LATEST = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Known:
    pk: int
    state: str


def list_source(source: Source) -> None:
    """List the sessions of a team's sources, without opening files. A database is queried for its list."""
    states, sentences, unlisted = dict[tuple[str, str], SessionState](), list[str](), list[str]()
    folders: dict[tuple[str, str], Path] = {}
    for store, place in places_of(source):
        try:
            listed = {(str(state.path), state.id): state for state in store.states(place) if _is_storable(state)}
        except DocumentError as error:
            sentences.append(str(error))
            unlisted.append(str(place))
        else:
            states |= listed
            folders |= {key: store.group_folder(place, state.path) for key, state in listed.items()}
    sentence = storable(" ".join(sentences))
    known = {(path, key): _Known(pk, state) for pk, path, key, state in source.sessions.values_list("pk", "path", "key", "state")}
    added = [(state, folders[key]) for key, state in states.items() if key not in known]
    changed = [(known[key].pk, state) for key, state in states.items() if key in known and known[key].state != state_text(state)]
    gone = [each.pk for key, each in known.items() if key not in states and not key[0].startswith(tuple(unlisted))]
    with transaction.atomic():
        _add(source, added)
        _change(changed)
        _delete(gone)
        if added or changed or gone or sentence != source.sentence:
            note_changes(pk=source.pk)
        Source.objects.filter(pk=source.pk).update(listed_at=timezone.now(), sentence=sentence)


def places_of(source: Source) -> Iterator[tuple[Store, Path]]:
    """Yield the stores of a source, each with one of its places on this machine."""
    if source.agent:
        yield from ((found.store, found.place) for found in find_stores(agent=source.agent))
    else:
        yield store_of(source), Path(source.path)


def store_of(source: Source) -> Store:
    if source.agent:
        return get_store(source.agent)
    return FolderStore(SessionFolder(Path(source.path), source.pattern, settings.CHAINVIZ.data))


def state_text(state: SessionState) -> str:
    return f"{state.size}:{state.modified}"


def state_of(row: Session) -> SessionState:
    """Return the state of a session when it was last listed."""
    size, _, modified = row.state.partition(":")
    return SessionState(Path(row.path), row.key, int(size), int(modified))


def fill_heads(rows: Iterable[Session]) -> None:
    """Read titles, projects and models from the beginnings of files, for rows whose sessions were not read yet."""
    filled = []
    for row in rows:
        found = store_of(row.source).session(state_of(row))
        if found is not None:
            show_head(row, found)
            filled.append(row)
    with transaction.atomic():
        Session.objects.bulk_update(filled, HEAD_FIELDS, batch_size=AT_ONCE)
        note_changes(pk__in={row.source_id for row in filled})


HEAD_FIELDS = ("title", "project", "model", "parent", "messages")


def show_head(row: Session, found: FoundSession) -> None:
    row.title = storable(found.title)[:200]
    row.project = storable(found.project)[:500] or row.project
    row.model = storable(found.model)[:200]
    row.parent = storable(found.parent)[:200]
    row.messages = found.messages


def _add(source: Source, states: Sequence[tuple[SessionState, Path]]) -> None:
    rows = [_row(source, state, folder) for state, folder in states]
    Session.objects.bulk_create(rows, batch_size=AT_ONCE, ignore_conflicts=True)


def _row(source: Source, state: SessionState, folder: Path) -> Session:
    row = Session(
        team_id=source.team_id,
        source=source,
        agent=state.row.agent if state.row is not None else source.agent,
        path=str(state.path),
        key=state.id,
        in_database=state.row is not None,
        state=state_text(state),
        size=state.size,
        changed_at=_time(state),
        project=storable(str(folder))[:500],
    )
    if state.row is not None:
        show_head(row, state.row)
    return row


def _change(changed: Sequence[tuple[int, SessionState]]) -> None:
    for pk, state in changed:
        Session.objects.filter(pk=pk).update(state=state_text(state), size=state.size, changed_at=_time(state))


def _delete(keys: Sequence[int]) -> None:
    for start in range(0, len(keys), AT_ONCE):
        Session.objects.filter(pk__in=keys[start : start + AT_ONCE]).delete()


def _time(state: SessionState) -> datetime:
    return min(datetime.fromtimestamp(max(0, state.modified) / 1e9, UTC), _LATEST)


def _is_storable(state: SessionState) -> bool:
    """Return True if a name is valid UTF-8, because the database cannot store any other name."""
    return state.address == storable(state.address) and len(state.id) <= 200


def unread_first(team: int) -> Iterator[int]:
    """Return the keys of the sessions to read, latest changes first. A team whose reading was stopped has none."""
    rows = Session.objects.unread().filter(team=team, source__is_stopped=False).order_by(F("changed_at").desc(), "pk")
    yield from rows.values_list("pk", flat=True)


log = logging.getLogger(__name__)
LARGEST = 512_000_000
"""The largest session, in bytes, that is read in the background."""
EDITION = 1000 * RULES_EDITION + FACTS_EDITION
"""The edition of the facts and rules. Sessions that were read with another edition are read again when a server starts."""
MOST_ROWS = 500
"""The most rows of one kind for a session."""


def read_session(row: Session) -> None:
    state = row.state
    try:
        if row.size > LARGEST:
            raise DocumentError(f"It is larger than {LARGEST // 1_000_000} MB; open it to check it.")
        facts: SessionFacts | None = _facts_of(row)
        sentence = ""
    except ChainError as error:
        facts, sentence = None, str(error)
    except Exception as error:
        log.exception("session %s could not be read", row.pk)
        facts, sentence = None, f"This is a bug in chainviz, not in your session ({type(error).__name__}); the server’s log says more."
    with transaction.atomic():
        changes = _failed(sentence) if facts is None else _columns(facts, row)
        is_there = Session.objects.filter(pk=row.pk).update(read_state=state, rules=EDITION, **changes)
        for child in (SessionDay, SessionTool, SessionProblem, SessionError, SessionRepeat):
            child._default_manager.filter(session=row.pk).delete()
        if facts is not None and is_there:
            _write_children(row, facts)
        note_changes(pk=row.source_id)


def _facts_of(row: Session) -> SessionFacts:
    store, path = store_of(row.source), Path(row.path)
    expected = (*store.formats, row.format)
    if store.kind is None:
        return read_facts(store.read(path, row.key), expected)  # no variable keeps the content, which may be large
    content, damage = store.kind.without_damage(store.read(path, row.key))
    return read_facts(content, expected, damage)


def _failed(sentence: str) -> dict[str, Any]:
    return {"health": Session.Health.FAILED, "sentence": storable(" ".join(sentence.split())), "problems": 0, "secrets": 0}


def _columns(facts: SessionFacts, row: Session) -> dict[str, Any]:
    total = sum(facts.usage.values(), TokenUsage())
    last, times = facts.last_call, facts.times
    columns = {
        "health": Session.Health(facts.health),
        "sentence": "",
        "format": facts.format,
        "provider": facts.provider,
        "model": storable(facts.model or row.model)[:200],
        "messages": facts.messages,
        "began_at": datetime.fromtimestamp(times.began / 1000, UTC) if times else None,
        "duration": times.ended - times.began if times else None,
        "context": last.tokens if last else None,
        "window": (last.window if last else None) or models().context_window(facts.model),
        "growth": list(facts.growth),
        "problems": facts.problem_count,
        "structure_problems": facts.structure_problems,
        "secrets": facts.secrets,
        "unread_parts": unread_rows(facts.unread),
        "calls": sum(each.calls for each in facts.tools.values()),
        "tool_errors": sum(each.errors for each in facts.tools.values()),
        "ending": facts.ending,
        **_usage_columns(facts.usage, total),
    }
    if facts.title:
        columns["title"] = storable(facts.title)[:200]
    columns["project"] = storable(facts.project or _project_beside(row))[:500]
    return columns


def _project_beside(row: Session) -> str:
    """Return the project of a session that records no working folder: what its agent notes beside its file, or the folder of its group."""
    if row.in_database:
        return row.project
    store, path = store_of(row.source), Path(row.path)
    found = store.session(state_of(row))
    place = next((place for _, place in places_of(row.source) if path.is_relative_to(place)), None)
    return found.project if found and found.project else str(store.group_folder(place, path)) if place else row.project


def _usage_columns(usage: Mapping[tuple[str, str], TokenUsage], total: TokenUsage) -> dict[str, Any]:
    if not usage:
        return dict.fromkeys(("input", "cached", "output", "tokens", "cost")) | {"prices": price_edition()}
    costs = [models().cost(model, each) for (_, model), each in usage.items()]
    known = [cost for cost in costs if cost is not None]
    return {
        "input": total.input,
        "cached": total.cached,
        "output": total.output,
        "tokens": total.input + total.output,
        "cost": millionths(sum(known)) if len(known) == len(costs) else None,  # type: ignore[arg-type]
        "prices": price_edition(),
    }


def _write_children(row: Session, facts: SessionFacts) -> None:
    rows = list(_children(row, facts))
    for kind in {type(each): None for each in rows}:
        kind._default_manager.bulk_create([each for each in rows if type(each) is kind])


def _children(row: Session, facts: SessionFacts) -> Iterator[db.Model]:
    for (day, model), usage in facts.usage.items():
        cost = millionths(models().cost(model, usage))
        yield SessionDay(session=row, day=_date(day), model=storable(model)[:200], cost=cost, **usage._asdict())
    for day in sorted(facts.days - {day for day, _ in facts.usage}):
        yield SessionDay(session=row, day=_date(day))
    for (day, name), tool in list(facts.tools.items())[:MOST_ROWS]:
        yield SessionTool(session=row, day=_date(day), name=storable(name)[:200], calls=tool.calls, errors=tool.errors, bytes=tool.bytes)
    for place, problem in enumerate(facts.problems):
        yield SessionProblem(session=row, place=place, rule=problem.rule[:60], count=problem.number, text=storable(problem.text))
    for error in facts.errors:
        yield SessionError(session=row, tool=storable(error.tool)[:200], text=storable(error.text)[:200], count=error.number)
    for each in facts.repeats:
        words = storable(each.arguments)[:200]
        yield SessionRepeat(session=row, tool=storable(each.tool)[:200], arguments=words, count=each.number, bytes=each.bytes)


def _date(day: str) -> date | None:
    return date.fromisoformat(day) if day else None
