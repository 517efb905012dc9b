"""Secrets beside the content of a chain: in its names and notes, and in what people wrote about it. Masking does not
reach them; a purge does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.chains.library import saved_filters
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import FileFindings
from chainviz.core.secrets import scan_text
from chainviz.store.models import Version


def names_of(chain: Chain) -> Iterator[str]:
    yield from given_names(chain)
    yield from Version.objects.filter(history=chain.history).exclude(note="").values_list("note", flat=True)


def given_names(chain: Chain) -> set[str]:
    """What the exports to read are called after; a title that is taken from the content is masked with it."""
    title = {chain.title} if chain.titled_by == Chain.TitledBy.PERSON else set()
    return {*title, chain.file_name}


def written_about(chain: Chain) -> Iterable[str]:
    texts_of: Callable[[Chain], Iterable[str]] = import_string(settings.WRITTEN_TEXTS)
    return texts_of(chain)


def kept_texts(team: int) -> Iterator[str]:
    """What a team keeps for all its chains, such as word lists and saved filters."""
    texts_of: Callable[[int], Iterable[str]] = import_string(settings.TEAM_TEXTS)
    yield from texts_of(team)
    yield from saved_filters.texts_of(team)


def findings_in_texts(texts: Iterable[str]) -> FileFindings:
    found = [finding for text in texts for finding in scan_text(text)]
    return FileFindings(dict(Counter(each.rule.name for each in found)), len({each.value for each in found}))
