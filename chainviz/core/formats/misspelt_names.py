"""Find fields with misspelt names: a name is nearly that of a field which the format reads and which the same object lacks.

Such a field may contain what a message should show, so the chain counts as not fully read. The known names are the strings in
the source code of the format, so a new format needs no list.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from chainviz.core.formats.contract import Format

ALIKE = 0.8
"""The least similarity of a short misspelt name to the right one. In a longer name, two letters may differ. The lengths differ by one
at most."""
_CORE = Path(__file__).parent.parent
_PACKAGE = "chainviz.core."
_QUOTED = re.compile(r"""["']([A-Za-z_$][\w.$-]*)["']""")
ANY_NAMES = re.compile(
    r"(?i:.*(arguments|args|input|output|parameters|schema|properties))$|functions|response|response_format|"
    "structuredContent|extra"
)
"""Fields whose value is an object with arbitrary names, such as the arguments of a call."""
TELLING = frozenset(("type", "role", "id", "from", "kind", "uuid", "parentId", "parentUuid", "parent_id", "messageId", "author", "origin"))
"""Fields that identify a record or what it belongs to. Other fields that no message shows may have any name."""


def misspelt_names(value: Any, format: Format, known: Container[str]) -> Iterator[str]:
    """Yield the misspelt names in a decoded value. Fields with names in `known` are neither judged nor searched."""
    kind, stack = type(format), [value]
    while stack:
        each = stack.pop()
        if type(each) is list:
            stack += each
        elif type(each) is dict:
            # nearly every name is known, and nearly every value a text: those cost one look-up each
            for name in [name for name in each if name not in known and _right_names(name, kind)]:
                if _is_misspelt(name, each, _right_names(name, kind), known):
                    yield name
            stack += [
                inner
                for name, inner in each.items()
                if type(inner) in (dict, list) and name not in known and not ANY_NAMES.match(name)
            ]


def _is_misspelt(name: str, holder: dict[str, Any], close: Sequence[str], known: Container[str]) -> bool:
    """Return True if a field holds something, and none of the names that are close to its own stands beside it."""
    if not holder[name] or (isinstance(holder[name], int | float) and holder[name] is not True):
        return False
    return not any(right in holder for right in close) and any(right not in known or right in TELLING for right in close)


@lru_cache(maxsize=4096)
def _right_names(name: str, format: type[Format]) -> tuple[str, ...]:
    """Return the names that a misspelt name may stand for; () if any format reads the name, or the part after its last dot."""
    head, dot, last = name.rpartition(".")
    if len(name) < 2 or {_letters(name), _letters(last)} & _all_letters():
        return ()
    ends = [f"{head}.{right}" for right in _close(last, format)] if dot else []
    return (*_close(name, format), *ends)


def _close(name: str, format: type[Format]) -> list[str]:
    close = get_close_matches(name, _names_of(format), n=5, cutoff=max(ALIKE, 1 - 2 / len(name)))
    return [right for right in close if abs(len(right) - len(name)) < 2]


def _letters(name: str) -> str:
    """Return the letters of a name in lower case, without a plural ending, so that the spellings of different programs are equal."""
    return re.sub(r"[_-]", "", name).lower().removesuffix("s")


@lru_cache(maxsize=1)
def _all_letters() -> frozenset[str]:
    files = (path for folder in ("formats", "dialects", "usage", "providers") for path in (_CORE / folder).rglob("*.py"))
    return frozenset(_letters(name) for path in files for name in _names_in(path))


@lru_cache(maxsize=256)
def _names_of(format: type[Format]) -> frozenset[str]:
    """Return the names in the modules of a format and in the modules that these import."""
    own = [sys.modules[each.__module__] for each in format.__mro__ if each.__module__.startswith(_PACKAGE)]
    used = {getattr(value, "__module__", None) for module in own for value in vars(module).values()}
    names = {module.__name__ for module in own} | {name for name in used if isinstance(name, str) and name.startswith(_PACKAGE)}
    return frozenset(name for each in names if (file := sys.modules[each].__file__) for name in _names_in(Path(file)))


@lru_cache(maxsize=512)
def _names_in(path: Path) -> frozenset[str]:
    return frozenset(_QUOTED.findall(path.read_text("utf-8")))
