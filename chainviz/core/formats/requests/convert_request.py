"""The request of a chain's document, and the document without messages that the chain gets in another format."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.chain import Chain
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.formats.contract import Format
from chainviz.core.formats.requests.form import RequestForm, set_names
from chainviz.core.formats.requests.settings import Change, Members, RequestSettings


@dataclass(frozen=True, slots=True)
class OldRequest:
    """The content of a document beside its messages."""

    settings: RequestSettings = field(default_factory=RequestSettings)
    left_out: tuple[Change, ...] = ()
    """Members that are not settings, and tools that run at the API."""
    lines: int = 0
    """Lines of the file that are not messages."""


@dataclass(frozen=True, slots=True)
class NewDocument:
    text: str
    """The document with an empty list; "" for the format's own template."""
    changes: tuple[Change, ...] = ()


def read_request(chain: Chain, format: Format) -> OldRequest:
    """Read the request of a document. `format` is the one in which the chain is written."""
    texts = chain.surroundings.document_texts()
    try:
        value = parse(_joined(texts))
    except (ValueError, RecursionError):
        return OldRequest(lines=sum(1 for text in texts if text.strip(" \t\r\n,[]{}")))
    form = format.request
    holder = next(_holders(value, form.lists), None) if form else None
    slots = {format.slot_key, *format.slot_aliases}
    if form is None or holder is None:
        return OldRequest(left_out=tuple(_other_members(value, slots)))
    members = Members(holder[1], holder[0])
    found = form.read(members)
    lost = (Change("left-out", place) for place in members.lost)
    return OldRequest(found.settings, (*found.left_out, *lost, *_other_members(value, slots, members.opened)))


def write_document(format: Format, settings: RequestSettings, called: Collection[str], *, is_line: bool = False) -> NewDocument:
    """Write the document without messages. `is_line` means one line of a file for fine-tuning, which is a document even
    without settings."""
    form = format.training if is_line else format.request
    if form is None:
        return NewDocument("", tuple(Change("left-out", settings.places.get(name, name)) for name in set_names(settings)))
    new = form.write(settings, called)
    if not new.members and not is_line:
        return NewDocument("", tuple(new.changes))
    return NewDocument(_text(form, new.members, is_line), tuple(new.changes))


def called_names(chain: Chain) -> frozenset[str]:
    """Return the names of the tools that a chain calls, or has results of; "" for a result whose call is not in the
    chain."""
    names: dict[str, str] = {}
    found: set[str] = set()
    for shape in chain.shapes():
        names.update((call.id, call.name) for call in shape.calls)
        found.update(call.name for call in shape.calls)
        found.update(names.get(result.id, result.name) for result in shape.results)
    return frozenset(found)


def _text(form: RequestForm, members: dict[str, Any], is_line: bool) -> str:
    """Write the document. In a line for fine-tuning, tools come after the messages, as in OpenAI's documentation;
    otherwise before them."""
    if is_line:
        rest = "".join(f", {dump(key)}: {dump(value, ascii_only=False)}" for key, value in members.items())
        return f"{{{dump(form.list_key)}: []{rest}}}\n"
    head = ",\n ".join(f"{dump(key)}: {dump(value, ascii_only=False)}" for key, value in members.items())
    return f"{{{head},\n {dump(form.list_key)}: [\n]}}\n"


def _joined(texts: Collection[str]) -> str:
    """Return the texts around the messages as one JSON document, with null for a message that was a member's value."""
    pieces = list(texts)
    ends = [*pieces[1:], ""]
    is_cut = (piece.rstrip().endswith(":") and after.lstrip()[:1] in ("", ",", "}") for piece, after in zip(pieces, ends, strict=True))
    return "".join(f"{piece}null" if cut else piece for piece, cut in zip(pieces, is_cut, strict=True))


def _holders(value: Any, lists: Collection[str], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects with a list of messages, each with the names that lead to it: those of requests before others."""
    if not isinstance(value, dict):
        return
    if any(key in lists and (item == [] or item is None) for key, item in value.items()):
        yield at, value
    for key, item in value.items():
        if isinstance(item, dict) and _has_list(item):
            yield from _holders(item, lists, f"{at}{key}.")


def _other_members(value: Any, slots: Collection[str], opened: Collection[int] = (), at: str = "") -> Iterator[Change]:
    """Yield the members beside the lists of messages and the texts of the system. `opened` contains the identities of
    objects whose members are named one by one."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict) and (id(item) in opened or _has_list(item)):
            yield from _other_members(item, slots, opened, f"{at}{key}.")
        elif item not in ([], None) and key not in slots:
            yield Change("left-out", f"{at}{key}")


def _has_list(value: dict[str, Any]) -> bool:
    return any(item == [] or (isinstance(item, dict) and _has_list(item)) for item in value.values())
