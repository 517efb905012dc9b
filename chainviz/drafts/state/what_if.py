"""The next call that a person enters, and whether it fits its context window.

The form has the leading system messages, the next user message and the window, and keeps the values. A strip shows what the call sends,
to scale, with the window's edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from chainviz.chains.usage import ContextWindow
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text, text_of
from chainviz.core.counts import count_text
from chainviz.core.state.export import NextCall
from chainviz.core.usage.model_catalog import estimated_tokens
from chainviz.web.formatting import for_field, from_field
from chainviz.web.http import small_number

WINDOWS = (8_192, 32_768, 128_000, 200_000, 1_000_000)
"""Tokens of usual context windows."""
USUAL = 128_000
"""The context window of a new form if that of the recorded model is not known."""
MOST_LEADING = 50
_LEAD, _ACT = "lead-", "act"


@dataclass(frozen=True, slots=True)
class WhatIf:
    leading: tuple[str, ...]
    user: str = ""
    window: int = USUAL
    """The context window in tokens; 0 for no comparison."""
    processed: int | None = None
    """The number of stored messages that the model has seen; None counts up to the last answer."""

    @property
    def leading_messages(self) -> tuple[Message, ...]:
        return tuple(Message(SYSTEM, (Text(text),)) for text in self.leading)

    @property
    def user_message(self) -> Message | None:
        return Message(HUMAN, (Text(self.user),)) if self.user else None


def of_chain(leading: Sequence[Message], processed: int | None, recorded: ContextWindow | None) -> WhatIf:
    """Return the most likely call, with the leading system messages of the chain and the context window of its model."""
    return WhatIf(tuple(text_of(message) for message in leading), window=first_window(recorded), processed=processed)


def first_window(recorded: ContextWindow | None) -> int:
    """Return the context window of a new form, in tokens."""
    return recorded.tokens if recorded else USUAL


def window_choices(recorded: ContextWindow | None, chosen: int) -> list[tuple[int, str]]:
    """Return the context windows of the form, in tokens, each with its label; 0 means no comparison."""
    sizes = sorted({*WINDOWS, first_window(recorded), chosen} - {0})
    return [(0, "Do not compare"), *((size, _window_label(size, recorded)) for size in sizes)]


def _window_label(size: int, recorded: ContextWindow | None) -> str:
    if size != first_window(recorded):
        return f"{count_text(size, 'token')}"
    return f"{count_text(size, 'token')}, {f'the window of {recorded.model}' if recorded else 'assumed: that of the model is not known'}"


def read(form: QueryDict, usual: WhatIf) -> WhatIf:
    """Read the form, with its buttons that add, move and remove a system message; `usual` contains its initial values."""
    originals = {for_field(text).replace("\r\n", "\n"): text for text in usual.leading}
    names = sorted((name for name in form if name.startswith(_LEAD)), key=lambda name: small_number(name[5:]) or 0)
    given = [form.get(name, "") for name in names[:MOST_LEADING]]
    leading = tuple(from_field(text, originals.get(text.replace("\r\n", "\n"), "")) for text in given)
    window = small_number(form.get("window", ""))
    entered = WhatIf(
        leading,
        from_field(form.get("next", ""), ""),
        usual.window if window is None else window,
        small_number(form.get("processed", "").replace(",", "")),
    )
    return _edited(entered, form.get(_ACT, ""))


def _edited(entered: WhatIf, act: str) -> WhatIf:
    word, _, number = act.partition(":")
    place = small_number(number)
    leading = list(entered.leading)
    if word == "lead_add":
        leading.append("")
    elif place is not None and place < len(leading):
        if word == "lead_remove":
            del leading[place]
        elif word == "lead_up" and place:
            leading[place - 1 : place + 1] = leading[place], leading[place - 1]
    return replace(entered, leading=tuple(leading))


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
