"""What a conversion does to the settings of a request, as values; a sentence for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["left-out", "own-tool", "model", "changed", "added", "derived-tools"]


@dataclass(frozen=True, slots=True)
class Change:
    """One setting, or member of the request, that is not written as it was."""

    kind: Kind
    place: str
    """Where the old request has it; of what was added, where the new one has it."""
    old: str = ""
    """The value, or the name of a tool."""
    new: str = ""
    """What is written instead."""


def sentences(changes: Iterable[Change], label: str) -> Iterator[str]:
    """A sentence for each kind of change. `label` names the format that is written."""
    found = list(changes)
    left_out = [change.place for change in found if change.kind == "left-out"]
    if left_out:
        yield f"Fields beside the messages are left out: {', '.join(dict.fromkeys(left_out))}."
    for change in found:
        match change.kind:
            case "own-tool":
                yield f"{change.place}: {change.old} is a tool of its API and is left out."
            case "model":
                yield f"{change.place}: the model {change.old} is left out; choose one for {label}."
            case "changed":
                yield f"{change.place}: {change.old} becomes {change.new}: {label} does not accept it."
            case "added":
                yield f"{change.place} is added as {change.new}: {label} requires it."
            case "derived-tools":
                yield (
                    f"{change.place}: {label} requires the definitions of the tools that are called; those of {change.new} are made "
                    "from their calls and say nothing of the arguments."
                )
            case _:
                continue
