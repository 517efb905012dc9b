"""The usage that a transcript records: read from the usage objects of providers and agents (formats.md section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import add
from typing import Any, NamedTuple

from chainviz.core.chain.messages import AI, Message
from chainviz.core.documents.json.edit import value_of


class TokenUsage(NamedTuple):
    """Tokens of one or more calls of a model."""

    calls: int = 0
    input: int = 0
    """Tokens of the prompts, including those that were read from a cache or written to it."""
    cached: int = 0
    """Input tokens that were read from the provider's cache."""
    written: int = 0
    """Input tokens that were written to the provider's cache."""
    output: int = 0
    """Tokens of the answers, including reasoning."""
    reasoning: int = 0
    """Output tokens that are reasoning."""

    def __add__(self, other: tuple[int, ...]) -> TokenUsage:  # type: ignore[override]
        return TokenUsage(*map(add, self, other))


class LastCall(NamedTuple):
    """The last call of a model that a transcript counts."""

    usage: TokenUsage
    window: int | None
    """The context window of the model in tokens, as the transcript records it."""

    @property
    def tokens(self) -> int:
        """Tokens that the call took of the context window."""
        return self.usage.input + self.usage.output


def usage_warning(call: LastCall | None, window: int | None) -> str:
    """Say that a call records more tokens than its model takes at once; "" if it does not. `window`: tokens, if known."""
    if call is None or window is None or call.tokens <= window:
        return ""
    return (
        f"the last call records {call.tokens:,} tokens, more than the context window of {window:,}; "
        "an agent that trusts this number compacts the session on every resume"
    )


Recorded = Mapping[str, TokenUsage]
"""Usage by the name of the model; "" if the name is not recorded."""

_USAGE = ("usage", "usagemetadata", "usagedetails", "tokenusage", "metrics", "tokens", "modelsusage")
_MODEL = ("model", "modelname", "modelid", "modelversion")
_API = ("baseurl", "apibase", "providerid", "api", "customllmprovider", "modelprovider", "provider", "genai.provider.name", "genai.system")
"""Members that name an API, the most exact first."""
_INPUT = ("prompttokens", "inputtokens", "input", "prompttokencount", "requesttokens", "promptevalcount", "prompt")
_OUTPUT = ("completiontokens", "outputtokens", "output", "candidatestokencount", "responsetokens", "evalcount", "completion")
_TOTAL = ("totaltokens", "total", "totaltokencount")
_CACHED = ("cachedtokens", "cachedinputtokens", "cachedcontenttokencount", "cachereadtokens", "promptcachehittokens", "cached")
_CACHED_BESIDE = ("cachereadinputtokens", "cacheread", "inputtokenscacheread")
_WRITTEN = ("cachewritetokens",)
_WRITTEN_BESIDE = ("cachecreationinputtokens", "cachewriteinputtokens", "cachewrite", "inputtokenscachewrite")
_REASONING = ("reasoningtokens", "reasoningoutputtokens", "reasoning")
_REASONING_BESIDE = ("thoughtstokencount", "thoughts")
_MARKS = ("sage", "metrics", "eval_count", '"tokens"')
"""The source of every message with recorded usage contains one of these."""
_DEPTH = 4
"""The number of levels of a message's source that are searched: tau2 keeps its usage at `usage`, OpenHands at the
fourth level."""
_MOST = 1 << 53


def recorded_in(message: Message) -> tuple[str, TokenUsage] | None:
    """The model and the usage that the source of an AI message records, or None if it records none.

    A message that lies in several units repeats its usage in each (Claude Code): the last one counts.
    """
    if message.role != AI:
        return None
    for fragment in reversed(message.source):
        if not any(mark in fragment.text for mark in _MARKS):
            continue
        try:
            value = value_of(fragment)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        found = find_usage(value)
        if found is not None:
            return find_model(value), found
    return None


def recorded_of(messages: Iterable[Message]) -> dict[str, TokenUsage]:
    """Return the sum over messages, by model."""
    total: dict[str, TokenUsage] = {}
    for message in messages:
        found = recorded_in(message)
        if found is not None:
            model, usage = found
            total[model] = total.get(model, TokenUsage()) + usage
    return total


def find_usage(value: Any) -> TokenUsage | None:
    """Return the usage nearest to the root of a JSON value; lists are not searched, they hold content."""
    for item in _objects(value):
        for key in _spellings(tuple(item), _USAGE):
            if (usage := read_usage(item[key])) is not None:
                return usage
        if "prompt_eval_count" in item and (usage := read_usage(item)) is not None:
            return usage  # Ollama counts beside the message
    return None


def find_model(value: Any) -> str:
    """Return the name of a model nearest to the root; "" if there is none."""
    for item in _objects(value):
        for key in _spellings(tuple(item), _MODEL):
            if isinstance(inner := item[key], str) and inner:
                return inner[:200]
    return ""


def find_api(value: Any) -> str:
    """Return the name or the address of an API that a program records, nearest to the root; "" if there is none."""
    for item in _objects(value):
        named = {_plain(key): inner for key, inner in item.items() if isinstance(inner, str) and inner}
        found = next((named[key] for key in _API if key in named), "")
        if found:
            return found[:200]
    return ""


def read_usage(value: Any) -> TokenUsage | None:
    """Return the usage that a usage object records for one call, or None if it records nothing."""
    if not isinstance(value, dict):
        return None
    own, details = dict(_numbers(value)) | _beside(value), _details(value)
    name = next((key for key in _INPUT if key in own), "")
    given, output = own.get(name, 0), _first(own, _OUTPUT)
    if not given and not output:
        return None
    is_whole = name == "prompttokens" or _first(own, _TOTAL) == given + output
    cached_beside, written_beside = _first(own, _CACHED_BESIDE), _first(own, _WRITTEN_BESIDE)
    cached = cached_beside or _first({**details, **own}, _CACHED) or details.get("cacheread", 0)
    written = written_beside or _first(own, _WRITTEN) or details.get("cachecreation", 0)
    thoughts = _first(own, _REASONING_BESIDE)
    return TokenUsage(
        calls=1,
        input=given if is_whole else given + cached_beside + written_beside,
        cached=cached,
        written=written,
        output=output + thoughts,
        reasoning=thoughts or _first({**details, **own}, _REASONING),
    )


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a value level by level."""
    level = [value] if isinstance(value, dict) else []
    for _ in range(_DEPTH):
        yield from level
        level = [inner for item in level for inner in item.values() if type(inner) is dict]


def _numbers(value: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for key, number in value.items():
        if type(number) is int and 0 <= number < _MOST:
            yield _plain(key), number


def _beside(value: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that opencode counts one level deeper, beside the input."""
    cache = value.get("cache")
    return {f"cache{key}": number for key, number in _numbers(cache)} if isinstance(cache, dict) else {}


def _details(value: Mapping[str, Any]) -> dict[str, int]:
    """Count one level deeper, such as `prompt_tokens_details`: each is a share of a count beside it."""
    found: dict[str, int] = {}
    for key, inner in value.items():
        if isinstance(inner, dict) and _plain(key).endswith("details"):
            found |= _numbers(inner)
    return found


@lru_cache(maxsize=4096)
def _spellings(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys that spell one of the names. Cached, since the records of a file have few different sets of keys."""
    return tuple(key for key in keys if _plain(key) in names)


@lru_cache(maxsize=4096)
def _plain(key: str) -> str:
    """Return the name in a common spelling: `inputTokens` and `input_tokens` are equal."""
    return key.replace("_", "").lower()


def _first(numbers: Mapping[str, int], names: Iterable[str]) -> int:
    for name in names:
        if number := numbers.get(name):
            return number
    return 0
