"""Units that name the unit they follow, as a Claude Code line names its parent: renamed where an edit separated them.

A line whose parent is gone follows the line before it; a new or moved line follows the one before it too, and what
followed that one follows the new line. Everything else keeps its parent, so branches of a session stay branches.
Lines of other branches change only where what they follow did.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from chainviz.core.chain.messages import NEW
from chainviz.core.documents.json import edit as json_edit


@dataclass(frozen=True, slots=True)
class Links:
    """Names of the members that hold a unit's id, the id of its parent, the mark of a side chain, and the id of the unit with
    which the part of the chain begins that a compaction kept. `shares`: a new unit where branches part is in all of them."""

    own: str
    parent: str
    aside: str
    kept: str = ""
    shares: bool = True


def uuid_of(text: str) -> str:
    """An id in the shape of a UUID that depends on `text` alone."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


class Linker:
    """Takes the units in the order in which they are written, one at a time."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._written: set[str] = set()
        self._before = self._highest = NEW
        self._has_gaps = False
        self._anchors: dict[bool, str] = {}
        self._latest_of: dict[bool, str] = {}
        """Ids of the last unit that keeps its place, and of the last one: in side chains (True) and elsewhere."""
        self._heirs: dict[tuple[bool, str], str] = {}
        """The last new unit after one that keeps its place: what followed that one, in each branch, follows this one."""
        self._instead: dict[str, str] = {}
        """What is followed now in place of a unit that is gone."""

    def linked(self, ordinal: int, text: str) -> str:
        own, parent, is_linked, aside = self._ids(text)
        anchor, latest = self._anchors.get(aside, ""), self._latest_of.get(aside, "")
        stands = self._stands(ordinal)
        if is_linked:
            if not stands:
                if ordinal == NEW or own in self._written:
                    own = uuid_of(f"{latest} {own}")
                    text = json_edit.replace_at(text, (self._links.own,), json_edit.quote(own))
                text = self._after(latest, text)
                self._heirs[aside, anchor] = own
            elif heir := self._heir(aside, parent):
                text = self._after(heir, text)
            elif self._is_gone(parent) and (latest or not aside):
                self._instead[parent] = latest
                text = self._after(latest, text)
            self._latest_of[aside] = own
            self._anchors[aside] = own if stands else anchor
        self._written.add(own)
        return text

    def beside(self, ordinal: int, text: str) -> str:
        """A unit of another branch, which follows what this one holds in the place of a unit that is gone."""
        self._stands(ordinal)
        own, parent, is_linked, aside = self._ids(text)
        heir = self._heirs.get((aside, parent)) if parent and self._links.shares else None
        if is_linked and heir:
            text = self._after(heir, text)
        elif is_linked and self._is_gone(parent) and not aside:
            text = self._after(self._instead.get(parent, self._latest_of.get(aside, "")), text)
        self._written.add(own)
        return text

    def _stands(self, ordinal: int) -> bool:
        """Whether a unit keeps its place."""
        stands = ordinal > self._highest
        self._has_gaps = self._has_gaps or ordinal != self._before + 1
        self._before, self._highest = ordinal, max(ordinal, self._highest)
        return stands

    def _is_gone(self, parent: str) -> bool:
        return bool(parent) and self._has_gaps and parent not in self._written

    def _heir(self, aside: bool, parent: str) -> str:
        """A unit without a parent begins the chain, or later goes on behind a compaction."""
        key = aside, parent
        return self._heirs.get(key, "") if parent else self._heirs.pop(key, "")

    def _after(self, latest: str, text: str) -> str:
        parent = json_edit.quote(latest) if latest else "null"
        return json_edit.replace_at(text, (self._links.parent,), parent)

    def _ids(self, text: str) -> tuple[str, str, bool, bool]:
        """A unit's own id and its parent's, "" for none; whether it has a parent, and whether it is of a side chain."""
        links = self._links
        try:
            value = json_edit.parse(text)
        except (ValueError, RecursionError):
            value = None
        if type(value) is not dict or not isinstance(value.get(links.own), str):
            return "", "", False, False
        parent = value.get(links.parent)
        aside = value.get(links.aside) is True
        return value[links.own], parent if isinstance(parent, str) else "", links.parent in value, aside
