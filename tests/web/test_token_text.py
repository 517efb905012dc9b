"""Tokens as pages write them."""

from __future__ import annotations

import pytest

from chainviz.web.formatting.numbers import round_tokens_text, tokens_text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (96_200, "96.2k"), (999_949, "999.9k"), (999_950, "1.0M"), (654_100_000, "654.1M"), (4_764_000_000, "4.8B")],
)
def test_tokens_are_short(tokens: int, text: str) -> None:
    assert tokens_text(tokens) == text


def test_round_figures_have_no_decimals() -> None:
    assert [round_tokens_text(tokens) for tokens in (200_000, 1_000_000)] == ["200k", "1M"]
