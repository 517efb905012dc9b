"""How many tokens a text may be, where nothing is recorded: counted by a tokenizer if the extra `tokens` is installed, else
bytes through four. Tokenizers of other models differ, so the figure is shown with ≈."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

BYTES_PER_TOKEN = 4
PIECE = 100_000
"""Characters that are counted at once."""


def estimated_tokens(size: int, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """Rounded up, so that what is estimated to fit fits when it is estimated again."""
    return int(-(-size // bytes_per_token))


@lru_cache(maxsize=1)
def tokenizer() -> Callable[[str], int] | None:
    """Counts tokens as o200k, OpenAI's encoding, has them; None where the extra is not installed. Takes 50 MB of memory."""
    try:
        encoding = import_module("rs_bpe.bpe").openai.o200k_base()
    except ImportError:
        return None
    count: Callable[[str], int] = encoding.count
    return count


def tokens_of(messages: Iterable[Message]) -> int:
    """Tokens of the content of some messages. Pictures and files count by their bytes."""
    count = tokenizer()
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
