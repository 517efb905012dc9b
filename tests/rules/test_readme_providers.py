"""The README names every provider."""

from __future__ import annotations

from chainviz.core.providers import PROVIDERS
from tests import ROOT


def test_the_readme_names_every_provider() -> None:
    text = (ROOT / "README.md").read_text()
    assert [provider.name for provider in PROVIDERS if f"`{provider.name}`" not in text] == []
