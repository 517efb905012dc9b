"""What formats with `{role, parts: [...]}` messages share: a part is an element, and a change touches one leaf of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import Part
from chainviz.core.dialects.patching import Speller, matched
from chainviz.core.documents.json import edit as json_edit


@dataclass(frozen=True, slots=True)
class ElementWriter:
    """How a format writes an element of its list."""

    new: Callable[[Part, Speller], str | None]
    changed: Callable[[str, Part, Part, Speller], str]
    """From the element's text, its old part and its new one."""


def patched_parts(raw: str, old: Sequence[Part], new: Sequence[Part], writer: ElementWriter, speller: Speller) -> str:
    """The parts' list with kept elements as they are; `raw` is a list whose elements are the old parts."""
    array = json_edit.load_array(raw)
    row: list[int | str] = []
    for part, claim in zip(new, matched(old, new), strict=True):
        if claim is None:
            made = writer.new(part, speller)
            if made is not None:
                row.append(made)
            continue
        if part != old[claim]:
            array.set(claim, writer.changed(array.raw(claim), old[claim], part, speller))
        row.append(claim)
    array.rebuild(row)
    return str(array)
