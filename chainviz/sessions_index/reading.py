"""Read one session into its rows, in one transaction. A session that cannot be read has a row with the reason."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from django.db import models as db
from django.db import transaction

from chainviz.core.chain.surroundings import unread_rows
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.session_facts import FACTS_EDITION, SessionFacts, read_facts
from chainviz.core.usage.recorded import TokenUsage
from chainviz.jobs.lease import storable
from chainviz.sessions_index.listing import store_of
from chainviz.sessions_index.models import Session, SessionDay, SessionError, SessionProblem, SessionRepeat, SessionTool, note_changes
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.web.prices import millionths, models, price_edition

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
        facts: SessionFacts | None = read_facts(store_of(row.source).read(Path(row.path), row.key))
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
    if facts.project:
        columns["project"] = storable(facts.project)[:500]
    return columns


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
