from __future__ import annotations

from typing import Any

import pytest

from chainviz.core import formats
from chainviz.store.transfer import imports
from tests.store.stub import STUB, StubReader


@pytest.fixture
def stub_format(monkeypatch: Any) -> None:
    monkeypatch.setattr(formats, "get_format", lambda name: STUB)
    monkeypatch.setattr(imports, "read_chain", StubReader)
