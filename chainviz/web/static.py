"""Static files under hashed names, also in the imports of scripts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # addresses do not change while the server runs, and a page has sixty of them
        self.url: Callable[..., str] = cache(super().url)
