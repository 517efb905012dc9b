"""Every transcript format. If two formats are equally likely, the first in FORMATS wins.

Each format is a file or folder by origin: `vendors`, `agents`, `frameworks`, `traces` and `chats`. They share, in reading order:
`contract`; `blocks`, `leaf_format` and `read_only` (base classes); `streams` and `streamed_logs` (recorded answers); `converted_files`
(files that become documents of another format); `reader` (units to messages); `stylist` (new messages in the style of their
neighbours); `conversion` and `cross_provider` (messages that move to another format or provider); `offers` (the chains of a file and
their possible formats); `coverage` and `misspelt_names` (how much of a chain was read); `neutral` (chainviz's own JSON); and
`requests` (tools and settings beside the messages).
"""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.documents.detection.recognition import Recognition
from chainviz.core.documents.units import Sample
from chainviz.core.documents.wrapped import kinds
from chainviz.core.errors import DocumentError
from chainviz.core.formats.agents.acp_and_grok import ACPUpdates, GrokBuild, GrokStream
from chainviz.core.formats.agents.aider_and_specstory import Aider, SpecStory
from chainviz.core.formats.agents.amp_and_droid import Amp, DroidSession, DroidStream
from chainviz.core.formats.agents.antigravity_windsurf_zed import Antigravity, Windsurf, Zed
from chainviz.core.formats.agents.claude_code import ClaudeCode
from chainviz.core.formats.agents.codex import CodexExec, CodexRollout
from chainviz.core.formats.agents.copilot_cli import CopilotCLI
from chainviz.core.formats.agents.crush_and_cursor import Crush, Cursor, CursorAgent, CursorStream
from chainviz.core.formats.agents.deepseek_devin_hermes_kiro import DeepSeekHarness, Devin, Hermes, KiroChat, KiroConversation, KiroSession
from chainviz.core.formats.agents.forge import Forge
from chainviz.core.formats.agents.gemini_cli.qwen_code import QwenCode
from chainviz.core.formats.agents.gemini_cli.session import GeminiCLI
from chainviz.core.formats.agents.goose import Goose
from chainviz.core.formats.agents.kimi import KimiCLI, KimiCode
from chainviz.core.formats.agents.opencode import Opencode, OpencodeEvents
from chainviz.core.formats.agents.pi import PiEvents, PiMessages, PiSession
from chainviz.core.formats.agents.vscode_chat import ContinueDev, CopilotChat, VSCodeChatLog
from chainviz.core.formats.chats.account_exports import AIStudio, ChatGPT, ClaudeAI, DeepSeekExport
from chainviz.core.formats.chats.chat_apps import LibreChat, LMStudio, OpenWebUI, SillyTavern
from chainviz.core.formats.chats.plain_text import FewShot, Raw, RoleText
from chainviz.core.formats.chats.sharegpt_and_hugging_face import HFChat, ShareGPT
from chainviz.core.formats.contract import Format, refusal
from chainviz.core.formats.converted_files import CONVERTED
from chainviz.core.formats.frameworks.agentscope_and_microsoft import AgentScope, AgentScopeSession, AutoGen, SemanticKernel
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.frameworks.google_adk import GoogleADK, GoogleADKEval
from chainviz.core.formats.frameworks.haystack_letta_llamaindex_smolagents import Haystack, Letta, LlamaIndex, Smolagents
from chainviz.core.formats.frameworks.langchain import LangChain
from chainviz.core.formats.frameworks.langchaingo import LangchainGo
from chainviz.core.formats.frameworks.openhands import OpenHands
from chainviz.core.formats.frameworks.pydantic_ai import PydanticAI
from chainviz.core.formats.frameworks.react_log import ReactLog
from chainviz.core.formats.frameworks.swe_agent import SWEAgent, SWEAgentWeb, SWEAgentYAML
from chainviz.core.formats.frameworks.vercel_model import PositAssistant, VercelModel
from chainviz.core.formats.frameworks.vercel_ui import Mastra, VercelUI
from chainviz.core.formats.neutral import Neutral
from chainviz.core.formats.streamed_logs import logged_events, streamed_logs
from chainviz.core.formats.streams import Stream
from chainviz.core.formats.traces.atif_and_hugging_face import ATIF, HFTraces
from chainviz.core.formats.traces.inspect_log import Inspect
from chainviz.core.formats.traces.langfuse_and_langsmith import Langfuse, LangSmith
from chainviz.core.formats.traces.otel import OTelEvents, OTelGenAI
from chainviz.core.formats.traces.spans import OpenInference, OpenInferenceMessages, OpenLLMetry, VercelSpans
from chainviz.core.formats.vendors.anthropic.messages import ANTHROPIC, Anthropic
from chainviz.core.formats.vendors.bedrock.converse import BEDROCK, BedrockConverse
from chainviz.core.formats.vendors.cohere import COHERE, COHERE_V1, Cohere, CohereV1
from chainviz.core.formats.vendors.google.gemini import Gemini
from chainviz.core.formats.vendors.google.interactions import GeminiInteractions
from chainviz.core.formats.vendors.google.stream import GEMINI, INTERACTIONS
from chainviz.core.formats.vendors.mistral import Mistral
from chainviz.core.formats.vendors.ollama.chat import OLLAMA, Ollama
from chainviz.core.formats.vendors.openai.chat import OpenAIChat
from chainviz.core.formats.vendors.openai.responses import OpenAIResponses
from chainviz.core.formats.vendors.openai.threads_and_realtime import OpenAIRealtime, OpenAIThread
from chainviz.core.formats.vendors.openai_form.stream import CHAT, MISTRAL, RESPONSES

FORMATS: tuple[Format, ...] = (
    OpenAIChat(),
    Anthropic(),
    OpenAIResponses(),
    Gemini(),
    GeminiInteractions(),
    BedrockConverse(),
    Mistral(),
    Ollama(),
    Cohere(),
    CohereV1(),
    HFChat(),
    SWEAgent(),
    SWEAgentWeb(),
    LangchainGo(),
    Neutral(),
    LangChain(),
    VercelUI(),
    VercelModel(),
    Mastra(),
    PydanticAI(),
    Inspect(),
    HFTraces(),
    DroidSession(),
    PiSession(),
    PiMessages(),
    PiEvents(),
    ATIF(),
    OpenHands(),
    ClaudeCode(),
    QwenCode(),
    CodexRollout(),
    CodexExec(),
    KimiCLI(),
    KimiCode(),
    CopilotCLI(),
    Amp(),
    AgentScope(),
    AgentScopeSession(),
    Opencode(),
    OpencodeEvents(),
    Crush(),
    Cursor(),
    GeminiCLI(),
    Goose(),
    Zed(),
    Forge(),
    Devin(),
    ContinueDev(),
    CopilotChat(),
    VSCodeChatLog(CopilotChat()),
    CursorAgent(),
    CursorStream(),
    DroidStream(),
    GrokBuild(),
    GrokStream(),
    ACPUpdates(),
    DeepSeekHarness(),
    PositAssistant(VercelModel()),
    Hermes(),
    Windsurf(),
    Antigravity(),
    KiroSession(),
    KiroConversation(),
    KiroChat(),
    AutoGen(),
    Smolagents(),
    GoogleADK(),
    GoogleADKEval(),
    SemanticKernel(),
    LlamaIndex(),
    Haystack(),
    Letta(),
    LibreChat(),
    OpenWebUI(),
    LMStudio(),
    SillyTavern(),
    OpenAIThread(),
    OpenAIRealtime(),
    AIStudio(),
    ClaudeAI(),
    ChatGPT(),
    DeepSeekExport(),
    GoaitoolsState(OpenAIChat(), "openai"),
    GoaitoolsState(Anthropic(), "anthropic", "goaitools_state_anthropic"),
    LangSmith(LangChain(), Anthropic(), OpenAIChat()),
    Langfuse(LangChain(), Anthropic(), OpenAIChat()),
    ShareGPT(),
    OTelGenAI(),
    OTelEvents(),
    OpenInference(),
    OpenInferenceMessages(),
    OpenLLMetry(),
    VercelSpans(VercelModel()),
    Stream(Mistral(), MISTRAL),  # before OpenAI's, of which it is a variant
    Stream(OpenAIChat(), CHAT),
    Stream(OpenAIResponses(), RESPONSES),
    Stream(Anthropic(), ANTHROPIC),
    Stream(Gemini(), GEMINI),
    Stream(GeminiInteractions(), INTERACTIONS),
    Stream(BedrockConverse(), BEDROCK),
    Stream(Cohere(), COHERE),
    Stream(CohereV1(), COHERE_V1),
    Stream(Ollama(), OLLAMA),
    ReactLog(),
    SWEAgentYAML(SWEAgent()),
    FewShot(),
    Aider(),
    SpecStory(),
    RoleText(),
    Raw(),
)


_APIS = tuple(each.chunks for each in FORMATS if isinstance(each, Stream))
kinds.kinds_of_formats = (*CONVERTED, logged_events(_APIS), streamed_logs(_APIS))

WRITTEN: tuple[Format, ...] = tuple(format for format in FORMATS if format.writes)
"""The formats that a chain can be converted to."""


def read_only(name: str) -> str:
    """Return the reason why a chain in this format cannot be changed; "" if it can."""
    format = get_format(name)
    return "" if format.writes else refusal(format)


def get_format(name: str) -> Format:
    """Return a format by its name, such as `react_log`, or `react_log:text,call` with values of its choices. Raises DocumentError
    for an unknown name or value."""
    base, _, chosen = name.partition(":")
    format = next((each for each in FORMATS if each.name == base), None)
    if format is None:
        names = ", ".join(each.name for each in FORMATS)
        raise DocumentError(f"There is no format “{name[:40]}”; choose one of {names}.")
    values = [value.strip() for value in chosen.split(",") if value.strip()]
    allowed = {value for choice in format.choices for value, _ in choice.values}
    unknown = next((value for value in values if value not in allowed), None)
    if unknown is not None:
        advice = f"choose from {', '.join(sorted(allowed))}" if allowed else "it is read in one way only"
        raise DocumentError(f"The format {base} has no choice “{unknown[:40]}”; {advice}.")
    return format.chosen(values) if values else format


def format_label(name: str) -> str:
    """Return the label of a format, or its name if this version does not know it."""
    try:
        return get_format(name).label
    except DocumentError:
        return name


def recognition_of(formats: Sequence[Format]) -> Recognition:
    """Return how to recognize messages of these formats in a document."""

    likely = tuple(formats)

    def is_message(value: object) -> bool:
        nonlocal likely
        found = next((format for format in likely if format.is_message(value)), None)
        if found is not None and found is not likely[0]:  # a document has messages of few formats, which are asked first from now on
            likely = (found, *(format for format in formats if format is not found))
        return found is not None

    hints = dict.fromkeys(hint for format in formats for hint in format.hints)
    answers = frozenset(keys for format in formats for keys in format.answers)
    sequences = dict.fromkeys(sequence for format in formats for sequence in format.sequences)
    slots = dict.fromkeys(
        (key, format.list_key) for format in formats if format.slot_key for key in (format.slot_key, *format.slot_aliases)
    )
    copies = tuple(keys for format in formats for keys in format.copies)
    texts = tuple(member for format in formats for member in format.texts)
    trees = tuple(format.tree for format in formats if format.tree)
    return Recognition(tuple(hints), is_message, answers, tuple(sequences), copies, tuple(slots), trees, texts)


RECOGNITION = recognition_of(FORMATS)


def detect(sample: Sample) -> list[tuple[Format, float]]:
    """Return the formats that the sample may be in, with their confidence, likeliest first."""
    rated = [(format, format.confidence(sample)) for format in FORMATS]
    return sorted([item for item in rated if item[1] > 0], key=lambda item: -item[1])
