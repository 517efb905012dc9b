"""How much tests try: everything in `make test-all`. `make test` tries a fifth of the examples of property tests and a share
of large matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

IS_LONG = "CHAINVIZ_TEST_LONG" in os.environ
FEWEST = 20
USUAL = 100
Column = TypeVar("Column")


def examples(most: int, **options: Any) -> settings:
    """Decorate a property test with the number of examples of its long form."""
    return settings(max_examples=_count(most), **options)


def share(columns: Sequence[Column], row: int, usual: int = 3) -> list[Column]:
    """Return every `usual`-th column of a matrix for this row, beginning one later in each row; all columns in the long form.

    Every row and every column of the matrix is tried in both forms.
    """
    return list(columns if IS_LONG else columns[row % usual :: usual])


def load_profile() -> None:
    """Try the same examples each time where CI is set, since a red run there blocks others; at a desk always new ones.

    A slow moment of a busy machine fails no test.
    """
    settings.register_profile(
        "chainviz", max_examples=_count(USUAL), deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("chainviz")


def _count(most: int) -> int:
    return most if IS_LONG else max(most // 5, FEWEST)
