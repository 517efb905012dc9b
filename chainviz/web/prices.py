"""The prices and context windows that this server knows: those of the package genai-prices, and the figures that its settings name."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from django.conf import settings

from chainviz.core.usage.model_catalog import Models, read_overrides


def models() -> Models:
    return _models(settings.CHAINVIZ.models)


@lru_cache(maxsize=4)
def _models(path: str) -> Models:
    return Models(read_overrides(path))


def millionths(cost: Decimal | None) -> int | None:
    """Return dollars in millionths, as tables hold them."""
    return None if cost is None else int(cost * 1_000_000)


def price_edition() -> int:
    """Return a number that changes with the list prices: those of the package, and the person's own."""
    return _edition(settings.CHAINVIZ.models)


@lru_cache(maxsize=4)
def _edition(path: str) -> int:
    own = Path(path).read_bytes() if path else b""
    digest = blake2b(version("genai-prices").encode() + b"\0" + own, digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
