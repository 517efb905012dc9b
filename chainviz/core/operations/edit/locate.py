"""The options of an edit, and the node that its path names. Reads only the messages around the node, and explains an ambiguous path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from pydantic import Field

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Message, Part
from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError, Refused
from chainviz.core.operations.contract import Options

P = TypeVar("P", bound=Part)


class Change(NamedTuple):
    """The changes of an edit, and a sentence that describes them."""

    splices: tuple[Splice, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    chain: Chain
    path: Path

    @property
    def span(self) -> range:
        """The indexes of the node's messages, or of the message that contains the part."""
        return self.chain.span(Path(self.path.section, self.path.pair, self.path.message))

    @property
    def pair_span(self) -> range:
        """The indexes of the messages in the node's pair, or of the node itself in a header."""
        return self.chain.span(Path(self.path.section, self.path.pair)) if self.path.pair else self.span

    def messages(self) -> Sequence[Message]:
        return self.chain.slice(self.span.start, self.span.stop)

    def one_message(self) -> tuple[int, Message]:
        """Return the index and the message that the path names. Raises Refused if it names several."""
        if self.path.pair is None:
            raise Refused(f"{self.path} is a section; choose one of its messages, such as {self.path}.p1.m0.")
        if len(self.span) != 1:
            raise Refused(f"{self.path} has {len(self.span)} messages; choose one of them, such as {self.path}.m{self._some_message}.")
        return self.span.start, self.chain[self.span.start]

    @property
    def _some_message(self) -> int:
        return 0 if self.path.pair == 0 or self.chain[self.span.start].role == "ai" else 1

    def some_part(self, message: Message) -> tuple[int, Part]:
        """Return the index and the part that the path names, of any kind. Raises PathError if there is none."""
        number = self.path.part
        if number is None or number >= len(message.parts):
            raise PathError(f"{self.path} is not in this chain: the message has {len(message.parts)} parts.")
        return number, message.parts[number]

    def one_part(self, message: Message, noun: str, *kinds: type[P]) -> tuple[int, P]:
        """Return the index and the part of these kinds that the path names, or that the message has only one of. Raises Refused for any
        other part."""
        if self.path.part is not None:
            number, part = self.some_part(message)
            if not isinstance(part, kinds):
                raise Refused(f"{self.path} is not a {noun}.")
            return number, part
        found = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, kinds)]
        if len(found) != 1:
            problem = f"has {len(found)} parts that are a {noun}; choose one" if found else f"has no {noun}"
            raise Refused(f"{self.path} {problem}.")
        return found[0]


def neighbour(chain: Chain, path: Path, step: int) -> range | None:
    """Return the span of the node before or after under the same parent, or None if there is none."""
    numbers = [path.section, path.pair, path.message]
    deepest = max(i for i, number in enumerate(numbers) if number is not None)
    number = (numbers[deepest] or 0) + step
    if number < (0 if deepest == 2 else 1):
        return None
    numbers[deepest] = number
    section, pair, message = numbers
    try:
        return chain.span(Path(section or 1, pair, message))
    except PathError:
        return None


def replaced_part(message: Message, place: int, part: Part) -> tuple[Part, ...]:
    return (*message.parts[:place], part, *message.parts[place + 1 :])


def splices_for(changed: dict[int, tuple[Message, ...]]) -> tuple[Splice, ...]:
    """Return splices that replace the message at each index with the given messages."""
    return tuple(Splice(place, 1, messages) for place, messages in sorted(changed.items()))


Action = Literal[
    "text", "role", "name", "arguments", "result", "call_id", "insert", "delete", "move_up", "move_down", "split", "merge",
    "append_human", "append", "add_event", "answer", "add_part", "image",
]  # fmt: skip
Where = Literal["before", "after"]
Error = Literal["keep", "yes", "no"]


class EditOptions(Options):
    path: str = Field(
        "",
        title="Node",
        description="The node's path, such as s2, s2.h.m0, s2.p1 or s2.p1.m0.c2. Not needed for append_human, append and add_event.",
        json_schema_extra={"hidden": True},
    )
    action: Action = Field("text", title="Edit", description="What to do with the node.", json_schema_extra={"hidden": True})
    text: str = Field("", title="Text", description="The new text, or the content of the tool result.", json_schema_extra={"long": True})
    role: Literal["system", "human", "ai", "tool"] = Field("human", title="Role", description="The message's role.")
    name: str = Field("", title="Tool name", description="The tool's name. For an answer, empty means the call's own.")
    arguments: str = Field("", title="Arguments", description="The call's arguments, as JSON.", json_schema_extra={"long": True})
    call_id: str = Field(
        "", title="Call id", description="Links a tool call and its result. A new call without one gets an id like those around it."
    )
    url: str = Field("", title="Image", description="The address of an image, or the image itself as a data: URL.")
    where: Where = Field("after", title="Place", description="Where to insert: before or after the node.")
    offset: int = Field(0, ge=0, title="Split at", description="Characters of the text that stay in the first message.")
    is_error: Error = Field("keep", title="Is an error", description="Whether the tool result reports an error.")
    with_results: bool = Field(True, title="With its results", description="Rename or delete the results of a call with it.")
    join: bool = Field(
        False, title="Join texts", description="When messages merge, join the two adjacent texts. Otherwise they stay separate parts."
    )
    separator: str = Field("", title="Between the texts", description="Put between two joined texts.")
    allow_invalid: bool = Field(False, title="Allow invalid JSON", description="Keep arguments that are not valid JSON.")
    drop_reasoning: bool = Field(
        False,
        title="Drop signed reasoning",
        description="Remove the edited message's signed reasoning, which providers refuse once the message has changed.",
    )


FIELDS: dict[Action, tuple[str, ...]] = {
    "text": ("text", "drop_reasoning"),
    "role": ("role",),
    "name": ("name", "with_results", "drop_reasoning"),
    "arguments": ("arguments", "allow_invalid", "drop_reasoning"),
    "result": ("text", "is_error"),
    "call_id": ("call_id", "with_results", "drop_reasoning"),
    "insert": ("where", "role", "text", "call_id", "name", "arguments", "allow_invalid"),
    "delete": ("with_results", "drop_reasoning"),
    "move_up": (),
    "move_down": (),
    "split": ("offset", "drop_reasoning"),
    "merge": ("join", "separator", "drop_reasoning"),
    "append_human": ("text",),
    "append": ("role", "text", "call_id", "name", "arguments", "allow_invalid"),
    "add_event": ("text",),
    "answer": ("text", "name", "call_id", "is_error"),
    "add_part": ("text", "name", "arguments", "call_id", "url", "allow_invalid", "drop_reasoning"),
    "image": ("url", "drop_reasoning"),
}
"""The options that each action uses. All other options are ignored."""
