"""Mentions: @ and the part of a member's e-mail address before its @."""

from __future__ import annotations

import re

from django.conf import settings

from chainviz.accounts.models import Membership, Team, User

MENTION = re.compile(r"(?<![\w@./])@(\w(?:[\w.+'-]*\w)?)")

MOST_OFFERED = 8


def handle_of(person: User) -> str:
    return person.get_username().partition("@")[0].lower()


def members_by_handle(team: Team | int) -> dict[str, list[User]]:
    """Return the members by their handle; empty in local mode, which has one person."""
    if settings.CHAINVIZ.mode != "team":
        return {}
    found: dict[str, list[User]] = {}
    for member in Membership.objects.active().filter(team=team).select_related("user"):
        found.setdefault(handle_of(member.user), []).append(member.user)
    return found


def members_like(text: str, team: Team | int) -> list[tuple[str, User]]:
    """Return handles and members, by name, whose handle or a word of whose name begins with the text."""
    wanted = text.lower()
    found = [(handle, person) for handle, people in members_by_handle(team).items() for person in people]
    like = [
        (handle, person)
        for handle, person in found
        if any(word.startswith(wanted) for word in (handle, *person.display_name.lower().split()))
    ]
    return sorted(like, key=lambda each: each[1].display_name)[:MOST_OFFERED]


def mentioned(body: str, team: Team | int) -> list[User]:
    """Return the members of the team that a comment mentions."""
    handles = {handle.lower() for handle in MENTION.findall(body)}
    known = members_by_handle(team) if handles else {}
    return [person for handle, people in known.items() if handle in handles for person in people]
