"""What formats with `{role, parts: [...]}` messages share: a part is an element, and a change touches one leaf of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainviz.core.chain.messages import Part
from chainviz.core.dialects.patching import Speller, matched
from chainviz.core.documents import json_edit

Element = Callable[[Part, Speller], str | None]
Changed = Callable[[str, Part, Part, Speller], str]


def patched_parts(
    raw: str, old: Sequence[Part], new: Sequence[Part], element: Element, changed: Changed, speller: Speller
) -> str:
    """The parts' list with kept elements as they are; `raw` is a list whose elements are the old parts."""
    array = json_edit.load_array(raw)
    row: list[int | str] = []
    for part, claim in zip(new, matched(old, new), strict=True):
        if claim is None:
            made = element(part, speller)
            if made is not None:
                row.append(made)
            continue
        if part != old[claim]:
            array.set(claim, changed(array.raw(claim), old[claim], part, speller))
        row.append(claim)
    array.rebuild(row)
    return str(array)
