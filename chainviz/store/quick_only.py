"""Prevent slow work while a page is rendered: such work raises an exception, and the view starts a job instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_quick_only: ContextVar[bool] = ContextVar("quick_only", default=False)


@contextmanager
def quick_only() -> Iterator[None]:
    """Inside, `must_be_quick()` is true."""
    token = _quick_only.set(True)
    try:
        yield
    finally:
        _quick_only.reset(token)


def must_be_quick() -> bool:
    return _quick_only.get()
