"""Whether the next call fits its context window: a strip of what it sends, to scale, with the window's edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.core.state.export import NextCall
from chainviz.core.usage.estimate import estimated_tokens

WIDTH = 1000


@dataclass(frozen=True, slots=True)
class FitBlock:
    kind: str
    """`lead`, `kept`, `appended` or `next`."""
    label: str
    size: int
    """The content size in bytes."""
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Fit:
    tokens: int
    """The estimated tokens of the request."""
    window: int
    """The context window, or 0 if none is chosen."""
    blocks: tuple[FitBlock, ...]

    @property
    def over(self) -> int:
        """Tokens beyond the context window."""
        return max(0, self.tokens - self.window) if self.window else 0

    @property
    def percent(self) -> int:
        """The share of the context window in percent."""
        return round(100 * self.tokens / self.window) if self.window else 0

    @property
    def edge(self) -> float:
        """The end of the window in the strip."""
        return WIDTH * self.window / max(self.tokens, self.window, 1)


def fit_of(call: NextCall, window: int) -> Fit:
    tokens = call.tokens()
    scale = WIDTH / max(tokens, window, 1)
    return Fit(tokens, window, tuple(_blocks(call, scale)))


def _blocks(call: NextCall, scale: float) -> Iterator[FitBlock]:
    parts = (
        ("lead", "instructions", sum(message.size for message in call.leading)),
        ("kept", "kept messages", call.stored.size - call.appended_size),
        ("appended", "new since the last call", call.appended_size),
        ("next", "your next message", call.user.size if call.user else 0),
    )
    x = 0.0
    for kind, label, size in parts:
        if size:
            width = scale * estimated_tokens(size)
            yield FitBlock(kind, label, size, round(x, 1), round(width, 1))
            x += width
