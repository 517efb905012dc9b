"""Tables of the review: threads and comments, requests and verdicts, labels, rules, sign-offs and the inbox."""

from __future__ import annotations

from chainviz.review.models.requests import Review, Reviewer, ReviewRequest, SignOff, TeamRules, Verdict, Viewed, rules_of
from chainviz.review.models.threads import Comment, Discussion, Label, LabelPlace, MailChoice, Mute, Notice, Place, Presence, Thread

__all__ = [
    "Comment",
    "Discussion",
    "Label",
    "LabelPlace",
    "MailChoice",
    "Mute",
    "Notice",
    "Place",
    "Presence",
    "Review",
    "ReviewRequest",
    "Reviewer",
    "SignOff",
    "TeamRules",
    "Thread",
    "Verdict",
    "Viewed",
    "rules_of",
]
