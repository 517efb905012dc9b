"""Queries whose SQL is built once. Django builds the SQL of a query each time it runs, which takes longer than the database's answer."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)
FIRST = 2_000_000_011
"""A number that no query has as a constant. This one and the next ones mark the places of the parameters."""
MOST = 2**63 - 1


class PreparedQuery(Generic[M]):
    """A queryset with numbers as parameters, for queries that every page runs."""

    def __init__(self, build: Callable[..., QuerySet[M]]) -> None:
        """`build` returns the queryset for some numbers. It may only pass them on to filters; everything else in it is fixed at the first
        run, so it must not depend on the time or the person."""
        self._build = build
        self._compiled: tuple[QuerySet[M], Any, str, tuple[Any, ...]] | None = None

    def __call__(self, *numbers: int) -> list[M]:
        """Run the query with these numbers. No row has a number that is too large for the database."""
        if any(number > MOST for number in numbers):
            return []
        if self._compiled is None:
            queryset = self._build(*range(FIRST, FIRST + len(numbers)))
            compiler = queryset.query.get_compiler(using=queryset.db)
            self._compiled = queryset, compiler, *compiler.as_sql()
        queryset, compiler, sql, marked = self._compiled
        values = dict(zip(range(FIRST, FIRST + len(numbers)), numbers, strict=True))
        ready = copy(compiler)
        ready.connection = connections[queryset.db]  # each thread has a connection of its own
        ready.as_sql = lambda *args, **options: (sql, tuple(values.get(each, each) for each in marked))
        rows: Any = queryset
        return list(rows._iterable_class(_Changed(queryset, query=_Changed(queryset.query, get_compiler=lambda *args, **options: ready))))


class _Changed:
    """An object with other attributes, for Django's code that makes values of rows."""

    def __init__(self, changed: Any, **attributes: Any) -> None:
        self._changed = changed
        vars(self).update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._changed, name)
