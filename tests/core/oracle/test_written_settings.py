"""Tools and settings that move between two APIs are written as the vendors' types ask for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz import load
from tests.core.formats.requests.test_forms import FORMS, FULL
from tests.core.oracle.vendors import VENDORS, Vendor

MESSAGES = [{"role": "user", "content": "hi"}]
CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]
STEPS = [{"type": "user_input", "content": [{"type": "text", "text": "hi"}]}]
BLOCKS = [{"role": "user", "content": [{"text": "hi"}]}]
LISTS: dict[str, Any] = {"gemini": CONTENTS, "gemini_interactions": STEPS, "bedrock_converse": BLOCKS}


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.format)
def test_settings_of_every_api_become_those_of_another(vendor: Vendor, source: str) -> None:
    request = {**FULL[source], FORMS[source].list_key: LISTS.get(source, MESSAGES)}
    (chain,) = load(json.dumps(request).encode(), source)
    written = json.loads(chain.convert(vendor.format).chain.to_bytes())
    assert vendor.faults(written) == []
    assert "tools" in written or "toolConfig" in written
