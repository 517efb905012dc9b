"""List the sessions of a team's sources: new ones get a row, changed ones a new state, and rows of deleted ones are deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chainviz.core.errors import DocumentError
from chainviz.core.sources import Session as FoundSession
from chainviz.core.sources import SessionState, Store, find_stores, get_store
from chainviz.core.sources.folder_files import SessionFolder
from chainviz.core.sources.store_kinds import FolderStore
from chainviz.jobs.lease import storable
from chainviz.sessions_index.models import Session, Source, note_changes

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
    for store, place in places_of(source):
        try:
            states |= {(str(state.path), state.id): state for state in store.states(place) if _is_storable(state)}
        except DocumentError as error:
            sentences.append(str(error))
            unlisted.append(str(place))
    known = {
        (path, key): _Known(pk, state)
        for pk, path, key, state in source.sessions.values_list("pk", "path", "key", "state")
    }
    added = [state for key, state in states.items() if key not in known]
    changed = [(known[key].pk, state) for key, state in states.items() if key in known and known[key].state != state_text(state)]
    gone = [each.pk for key, each in known.items() if key not in states and not key[0].startswith(tuple(unlisted))]
    with transaction.atomic():
        _add(source, added)
        _change(changed)
        _delete(gone)
        if added or changed or gone:
            note_changes(pk=source.pk)
        Source.objects.filter(pk=source.pk).update(listed_at=timezone.now(), sentence=storable(" ".join(sentences)))


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
    row.project = storable(found.project or str(found.path.parent))[:500]
    row.model = storable(found.model)[:200]
    row.parent = storable(found.parent)[:200]
    row.messages = found.messages


def _add(source: Source, states: Sequence[SessionState]) -> None:
    rows = [_row(source, state) for state in states]
    Session.objects.bulk_create(rows, batch_size=AT_ONCE, ignore_conflicts=True)


def _row(source: Source, state: SessionState) -> Session:
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
        project=storable(str(state.path.parent))[:500],
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
