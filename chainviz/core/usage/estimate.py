"""Estimate the tokens of a text if none are recorded: counted by a tokenizer if the extra `tokens` is installed, else a
quarter of its bytes. Tokenizers of other models differ, so pages show the number with ≈."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

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
