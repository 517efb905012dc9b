"""The table folder by folder: the chains of each folder of this machine stand together, under its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from django.http import HttpRequest

from chainviz.chains.library.cells import Row
from chainviz.chains.models import Chain, ChainQuerySet

FOLDED = "library_folded"
"""The cookie with the keys of the folders that a person has folded, which folder_groups.js writes."""


@dataclass(frozen=True, slots=True)
class FolderGroup:
    folder: str
    """As `~/runs/app`; "" for chains that came from no listed folder."""
    key: str
    chains: int
    """In the library."""
    matching: int
    """That fit the filter, on all pages."""
    rows: Sequence[Row]
    is_folded: bool

    @property
    def running(self) -> int:
        return sum(row.is_running for row in self.rows)


class FolderByFolder(Sequence[Chain]):
    """The chains of a table for a paginator: in groups, each where its first chain stands. Loads those of a page."""

    def __init__(self, chains: ChainQuerySet, projects: Mapping[int, str]) -> None:
        groups: dict[str, list[int]] = {}
        for number in chains.values_list("pk", flat=True):
            groups.setdefault(projects.get(number, ""), []).append(number)
        self._chains = chains
        self._numbers = [number for group in groups.values() for number in group]
        self.matching = {folder: len(group) for folder, group in groups.items()}

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, shown: Any) -> Any:
        """A slice, as paginators ask for."""
        numbers = self._numbers[shown]
        found = self._chains.model.objects.in_bulk(numbers)
        return [found[number] for number in numbers if number in found]


def groups_of(
    rows: Sequence[Row], projects: Mapping[int, str], every: int, matching: Mapping[str, int], folded: frozenset[str]
) -> list[FolderGroup]:
    """The rows of a page, which stand folder by folder. `every`: the number of chains in the library."""
    counts = Counter(projects.values())
    counts[""] = every - len(projects)
    found = groupby(rows, key=lambda row: projects.get(row.chain.pk, ""))
    return [
        FolderGroup(folder, key := key_of(folder), counts[folder], matching[folder], list(some), key in folded)
        for folder, some in found
    ]


def key_of(folder: str) -> str:
    return sha256(folder.encode("utf-8", "replace")).hexdigest()[:8]


def folded_of(request: HttpRequest) -> frozenset[str]:
    return frozenset(request.COOKIES.get(FOLDED, "").split("."))
