"""The job that reads sessions in the background, one at a time, latest changes first.

Each row has the state of its session when it was read, so an interrupted job continues where it stopped. The job ends early if another
job is waiting; the next idle worker continues it.
"""

from __future__ import annotations

from django.utils import timezone

from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.sessions_index.listing import fill_heads, list_source, unread_first
from chainviz.sessions_index.models import Session, Source
from chainviz.sessions_index.reading import read_session

SCAN = "scan-sessions"
HEADS = 100
"""The number of sessions whose beginnings are read at once."""


def scan_sessions(context: JobContext, team: int) -> int:
    """Read the sessions of a team. Return the number of sessions read."""
    for source in Source.objects.filter(team=team):
        list_source(source)
        context.report(0, "Looking for sessions")
    _show_heads(context, team)
    waiting = list(unread_first(team))
    for place, key in enumerate(waiting):
        context.report(place / len(waiting), f"Session {place + 1:,} of {len(waiting):,}")
        row = Session.objects.select_related("source").filter(pk=key).first()
        if row is not None:
            read_session(row)
        if Job.objects.filter(state=Job.State.QUEUED).exists():
            return place + 1
    return len(waiting)


def _show_heads(context: JobContext, team: int) -> None:
    """Read the titles of all sessions first, so that the rows of a page can be told apart before the sessions are read."""
    rows = Session.objects.filter(team=team, read_state="", title="", in_database=False, source__is_stopped=False)
    keys = list(rows.order_by("-changed_at").values_list("pk", flat=True))
    for start in range(0, len(keys), HEADS):
        context.report(0, "Reading titles")
        fill_heads(Session.objects.select_related("source").filter(pk__in=keys[start : start + HEADS]))


def start_scan(team: int) -> Job | None:
    """Start the job for a team, and delete its older ones. Return None if one is already running."""
    jobs = [job for job in Job.objects.filter(function=SCAN) if job.args.get("team") == team]
    if any(not job.is_finished for job in jobs):
        return None
    Job.objects.filter(pk__in=[job.pk for job in jobs]).delete()
    return start_job(SCAN, owner=None, team=team)


def go_on_where_unread() -> Job | None:
    """Start a job for unread sessions and sources that were never listed. Idle workers call this."""
    unread = Session.objects.unread().filter(source__is_stopped=False).order_by("team").values_list("team", flat=True)
    unlisted = Source.objects.filter(listed_at=None).order_by("team").values_list("team", flat=True)
    team = unread.first() or unlisted.first()
    return None if team is None else start_scan(team)


def is_due(team: int, seconds: float) -> bool:
    """Return True if the sources were not listed within this time."""
    listed = list(Source.objects.filter(team=team).values_list("listed_at", flat=True))
    now = timezone.now()
    return any(at is None or (now - at).total_seconds() > seconds for at in listed)
