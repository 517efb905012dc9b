"""The context window and prices of a model, from the package genai-prices, the usage of a whole chain, and estimates of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, reduce
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.errors import OptionsError
from chainviz.core.usage.recorded import Recorded, TokenUsage

_MILLION = 1_000_000


class ModelFigures(BaseModel):
    """Figures that a person gives of a model: tokens, and dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: int | None = Field(default=None, gt=0)
    input: Decimal | None = Field(default=None, ge=0)
    cached: Decimal | None = Field(default=None, ge=0)
    written: Decimal | None = Field(default=None, ge=0)
    output: Decimal | None = Field(default=None, ge=0)


Overrides = Mapping[str, ModelFigures]
_FILE: TypeAdapter[dict[str, ModelFigures]] = TypeAdapter(dict[str, ModelFigures])


def read_overrides(path: str) -> Overrides:
    """Read figures of models by name from a JSON file; "" for no file. Raises OptionsError if it cannot be read."""
    if not path:
        return {}
    try:
        return _FILE.validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise OptionsError(f"The file of models {Path(path).name} cannot be used: {_reason(error)}.") from None


def _reason(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place + ': ' if place else ''}{first['msg'].lower()}"


@dataclass(frozen=True)
class Models:
    """Models by name, as transcripts spell them."""

    overrides: Overrides

    def context_window(self, model: str) -> int | None:
        """Return the context window in tokens, or None if it is not known."""
        own = self.overrides.get(model)
        if own is not None and own.context is not None:
            return own.context
        found = known_model(model)
        return found.context_window if found is not None else None

    def cost(self, model: str, usage: TokenUsage) -> Decimal | None:
        """Dollars at list prices, or None if the model has none here.

        Some prices rise with the size of a prompt: every call is taken to be of average size."""
        own = self.overrides.get(model)
        if own is not None and own.input is not None and own.output is not None:
            return _own_cost(own, usage)
        found = known_model(model)
        return _list_cost(found, usage) if found is not None and any(usage) else None


def _own_cost(own: ModelFigures, usage: TokenUsage) -> Decimal:
    given = own.input or Decimal(0)
    cached = given if own.cached is None else own.cached
    written = given if own.written is None else own.written
    plain = usage.input - usage.cached - usage.written
    sums = (given * plain, cached * usage.cached, written * usage.written, (own.output or Decimal(0)) * usage.output)
    return sum(sums, Decimal(0)) / _MILLION


def _list_cost(model: KnownModel, usage: TokenUsage) -> Decimal | None:
    from genai_prices import Usage, calc_price

    calls = max(1, usage.calls)
    one = Usage(
        input_tokens=usage.input // calls,
        cache_read_tokens=usage.cached // calls,
        cache_write_tokens=usage.written // calls,
        output_tokens=usage.output // calls,
    )
    try:
        return calc_price(one, model.name, provider_id=model.provider).total_price * calls
    except (LookupError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model as the package names it."""

    provider: str
    name: str
    context_window: int | None


@lru_cache(maxsize=256)
def known_model(name: str) -> KnownModel | None:
    """The model that a transcript's name means, or None if the package has none.

    Programs put a provider before the name (`openai/gpt-4o`), Bedrock a region too (`us.anthropic.claude-…`)."""
    if not name:
        return None
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    for spelled, provider_id in _spellings(name):
        try:
            provider, model = snapshot.find_provider_model(spelled, None, provider_id, None)
        except LookupError:
            continue
        return KnownModel(provider.id, spelled, model.context_window)
    return None


def _spellings(name: str) -> Iterator[tuple[str, str | None]]:
    yield name, None
    provider, _, model = name.rpartition("/")
    if provider:
        yield model, provider.rpartition("/")[2]
        yield model, None
    if "." in model:
        yield model, "aws"


@dataclass(frozen=True)
class ChainUsage:
    by_model: Mapping[str, TokenUsage]
    """Recorded usage; empty if none is recorded."""
    model: str
    """The model that was called most, or that the document names; "" if none is recorded."""

    @property
    def is_recorded(self) -> bool:
        return bool(self.by_model)

    @property
    def total(self) -> TokenUsage:
        return reduce(TokenUsage.__add__, self.by_model.values(), TokenUsage())

    def cost(self, models: Models) -> Decimal | None:
        """Dollars at list prices, or None if nothing is recorded, or one of its models has no price here."""
        costs = [models.cost(model, usage) for model, usage in self.by_model.items()]
        known = [cost for cost in costs if cost is not None]
        return sum(known, Decimal(0)) if costs and len(known) == len(costs) else None


def chain_usage(in_messages: Recorded, beside: Recorded) -> ChainUsage:
    named = next((model for model in beside if model), "")
    recorded = {model: usage for model, usage in (in_messages or beside).items() if any(usage)}
    if named and set(recorded) == {""}:
        recorded = {named: recorded[""]}
    most = max(recorded, key=lambda model: recorded[model].calls, default="")
    return ChainUsage(recorded, most or named)


BYTES_PER_TOKEN = 4
PIECE = 50_000
"""The number of characters that are counted at once: at most 200,000 tokens, the library's limit."""


def estimated_tokens(size: int, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """Rounded up, so that what is estimated to fit fits when it is estimated again."""
    return int(-(-size // bytes_per_token))


@lru_cache(maxsize=1)
def tokenizer() -> Callable[[str], int] | None:
    """Return a function that counts tokens in OpenAI's encoding o200k; None without the extra. Takes 150 MB of memory."""
    try:
        encode = import_module("bpe_openai").get_encoding("o200k_base").encode_ordinary
    except ImportError:
        return None
    return lambda text: len(encode(text))


def tokens_of(messages: Iterable[Message], counter: Callable[[str], int] | None = None) -> int:
    """Return the tokens of the content of some messages, counted by `counter` if there is one. Pictures and files count by their
    bytes."""
    count = counter or tokenizer()
    parts = [part for message in messages for part in message.parts]
    if count is None:
        return estimated_tokens(sum(part.size for part in parts))
    return sum(_tokens_of(part, count) for part in parts)


def _tokens_of(part: Part, count: Callable[[str], int]) -> int:
    media = part.media if isinstance(part, ToolResult) else (part,) if isinstance(part, Image | Binary) else ()
    texts = _texts(part)
    return sum(_counted(text, count) for text in texts) + estimated_tokens(sum(each.size for each in media))


def _texts(part: Part) -> tuple[str, ...]:
    match part:
        case Text():
            return (part.text,)
        case ToolCall():
            return (part.id, part.type, part.name, part.arguments) if part.has_function else (part.id, part.type)
        case ToolResult():
            return (part.call_id, part.name, part.content)
        case Thinking() | Opaque() | Image() | Binary():
            return ()


def _counted(text: str, count: Callable[[str], int]) -> int:
    clean = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text for it
    return sum(count(clean[start : start + PIECE]) for start in range(0, len(clean), PIECE))
