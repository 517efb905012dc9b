"""Times relative to now, in the words of a list: just now, 5 min ago, yesterday, 12 Nov."""

from __future__ import annotations

from datetime import datetime, timedelta


def relative_time(then: datetime, now: datetime) -> str:
    past = now - then
    if past < timedelta(minutes=1):
        return "just now"
    if past < timedelta(hours=1):
        return f"{past.seconds // 60} min ago"
    days = (now.date() - then.date()).days
    if past < timedelta(hours=6) or not days:
        return f"{past.seconds // 3600} h ago"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days} days ago"
    return day_text(then, now)


def day_text(then: datetime, now: datetime) -> str:
    """Return the day, with its year only where that is another one."""
    return f"{then.day} {then:%b}" if then.year == now.year else f"{then.day} {then:%b %Y}"


def full_time(then: datetime) -> str:
    return f"{then.day} {then:%b %Y, %H:%M} UTC"
