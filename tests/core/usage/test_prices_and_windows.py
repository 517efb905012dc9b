"""Context windows and prices of models, and what a person says instead."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from chainviz.core.errors import OptionsError
from chainviz.core.usage.model_catalog import Models, read_overrides
from chainviz.core.usage.recorded import TokenUsage

LISTED = Models({})


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"])
def test_a_model_is_known_under_the_names_that_programs_give_it(name: str) -> None:
    assert LISTED.context_window(name)
    usage = TokenUsage(1, 1_000, 500, 0, 100, 0)
    # $3 and $15 for a million tokens, $0.30 for cached ones; Bedrock's regions may cost a tenth more
    assert LISTED.cost(name, usage) in (Decimal("0.00315"), Decimal("0.003465"))


@pytest.mark.parametrize("name", ["", "<synthetic>", "my own model", "\ud83d"])
def test_of_an_unknown_model_nothing_is_said(name: str) -> None:
    assert LISTED.context_window(name) is None
    assert LISTED.cost(name, TokenUsage(1, 10, 0, 0, 10, 0)) is None


def test_a_price_that_rises_with_the_prompt_is_of_the_average_call() -> None:
    one = TokenUsage(1, 150_000, 0, 0, 100, 0)
    ten = TokenUsage(*(10 * each for each in one))
    cost = LISTED.cost("claude-sonnet-4-5", one)
    assert cost is not None and LISTED.cost("claude-sonnet-4-5", ten) == 10 * cost


def test_own_figures_come_first(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text('{"mine": {"context": 32000, "input": 1, "cached": 0.5, "output": 2}, "gpt-4o": {"context": 9}}')
    own = Models(read_overrides(str(path)))
    assert (own.context_window("mine"), own.context_window("gpt-4o")) == (32_000, 9)
    assert own.cost("mine", TokenUsage(3, 1_000_000, 500_000, 0, 1_000_000, 0)) == Decimal("2.75")
    assert own.cost("gpt-4o", TokenUsage(1, 1_000, 0, 0, 0, 0)) == LISTED.cost("gpt-4o", TokenUsage(1, 1_000, 0, 0, 0, 0))


@pytest.mark.parametrize("text", ["{", '{"m": 5}', '{"m": {"context": 0}}', '{"m": {"inputs": 1}}'])
def test_a_file_of_models_that_cannot_be_used_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(text)
    with pytest.raises(OptionsError, match=r"models\.json cannot be used"):
        read_overrides(str(path))
    with pytest.raises(OptionsError, match="No such file"):
        read_overrides(str(tmp_path / "absent.json"))


def test_neither_prices_nor_a_tokenizer_are_loaded_before_they_are_needed() -> None:
    code = (
        "import sys, chainviz; chain = chainviz.generate(messages=5); str(chain), chain.verdict('openai_chat')\n"
        "from chainviz.core.usage import document_usage, model_catalog, recorded\n"
        "from chainviz import settings, cli\n"
        "assert not {'genai_prices', 'bpe_openai', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
