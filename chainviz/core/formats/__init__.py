"""Every transcript format, in the order in which equal confidence is decided."""

from __future__ import annotations

from chainviz.core.documents.units import Sample
from chainviz.core.errors import DocumentError
from chainviz.core.formats.anthropic import Anthropic
from chainviz.core.formats.claude_code import ClaudeCode
from chainviz.core.formats.contract import Format
from chainviz.core.formats.goaitools_state import GoaitoolsState
from chainviz.core.formats.langchaingo import LangchainGo
from chainviz.core.formats.neutral import Neutral
from chainviz.core.formats.openai_chat import OpenAIChat
from chainviz.core.formats.raw import Raw
from chainviz.core.formats.react_log import ReactLog

FORMATS: tuple[Format, ...] = (
    OpenAIChat(),
    Anthropic(),
    LangchainGo(),
    Neutral(),
    ClaudeCode(),
    GoaitoolsState(OpenAIChat(), "openai"),
    GoaitoolsState(Anthropic(), "anthropic", "goaitools_state_anthropic"),
    ReactLog(),
    Raw(),
)


def get_format(name: str) -> Format:
    for format in FORMATS:
        if format.name == name:
            return format
    names = ", ".join(format.name for format in FORMATS)
    raise DocumentError(f"There is no format “{name[:40]}”; choose one of {names}.")


def detect(sample: Sample) -> list[tuple[Format, float]]:
    """The formats the sample could be in, the likeliest first."""
    rated = [(format, format.confidence(sample)) for format in FORMATS]
    return sorted([item for item in rated if item[1] > 0], key=lambda item: -item[1])
