"""The next call that a person enters: leading system messages, the next user message and the context window. The form keeps the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from chainviz.chains.usage import ContextWindow
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text, text_of
from chainviz.core.counts import count_text
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
