"""A team may keep content from leaving as a file: every view that sends content as a file asks here first.

What the rule is, the review decides; settings.EXPORT_LOCK names its function.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain


class ExportLocked(Exception):
    """The content may not leave as a file. The text says why."""

    def __init__(self, chain: Chain, reason: str) -> None:
        super().__init__(reason)
        self.chain = chain


def locked_reason(chain: Chain, version: int | None) -> str:
    """Returns why this content may not leave; empty where it may. `version`: None for what is not exactly a version, such
    as a draft or a file with other chains in it."""
    return str(import_string(settings.EXPORT_LOCK)(chain, version))


def require_unlocked(chain: Chain, version: int | None) -> None:
    """Raises ExportLocked."""
    reason = locked_reason(chain, version)
    if reason:
        raise ExportLocked(chain, reason)


def require_subject_unlocked(subject: Subject) -> None:
    require_unlocked(subject.chain, subject.version)
