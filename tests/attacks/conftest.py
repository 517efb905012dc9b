from __future__ import annotations

from tests.browser.conftest import browser_type_launch_args  # noqa: F401
