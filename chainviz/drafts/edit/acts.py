"""Read the acts in the form of a node: the pressed button, and the texts typed for new parts, results and messages. No typed text is lost,
whichever button was pressed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chainviz.core.chain.build import FALLBACK_RESPONSE_CONTENT
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.drafts.edit.form import NEW_PART, ROLES, CardPage

ACTS = ("delete", "move_up", "move_down", "split", "merge", "answer", "insert", "add_part")
ADDING = ("add_part", "answer", "insert")
"""Acts that add something, in an order in which earlier acts do not change the paths of later ones, except for a message among the results
of a pair."""
NEW_MESSAGE = ("text", "id", "name", "arguments")
"""Fields of the form for a new message, apart from its place and role."""


def acts_in(form: Mapping[str, str], page: CardPage) -> list[EditOptions]:
    """Return the acts of a form in order. Raises Refused if they cannot be done together."""
    pressed = form.get("act", "")
    action = pressed.partition(":")[0]
    if pressed and action not in ACTS:
        raise OptionsError("This edit does not exist. Reload the page and try again.")
    acts = list(_typed(form, page))
    if acts and action not in ("", *ADDING):
        raise Refused("You typed a new part, result or message. Apply it or clear it first.")
    if pressed and pressed not in acts:
        acts.append(pressed)
    acts.sort(key=lambda act: ADDING.index(act.partition(":")[0]) if act.partition(":")[0] in ADDING else 0)
    if {"answer", "insert"} <= {act.partition(":")[0] for act in acts}:
        raise Refused("A result and a message cannot be added at once. Clear one of them and add it afterwards.")
    return [options for act in acts for options in _options_of(act, form)]


def _typed(form: Mapping[str, str], page: CardPage) -> Iterator[str]:
    """Yield the acts of the buttons next to typed texts."""
    for card in page.cards:
        if any(form.get(f"{card.dom}-new-{name}") for name in NEW_PART):
            yield f"add_part:{card.path}"
        for part in card.parts:
            if part.is_pending and form.get(f"{part.dom}-answer"):
                yield f"answer:{part.path}"
    if any(form.get(f"insert-{name}") for name in NEW_MESSAGE):
        yield "insert:"


def _options_of(act: str, form: Mapping[str, str]) -> Iterator[EditOptions]:
    action, _, place = act.partition(":")
    options: dict[str, object] = {"action": action, "path": str(parse_path(place)) if place else ""}
    if action == "add_part":
        for part in _new_parts(form, parse_path(place)):
            yield EditOptions.model_validate({**options, **part})
        return
    if action == "insert":
        options |= _insertion(form)
    elif action == "answer":
        typed = _lines(form.get(f"{parse_path(place).dom_id}-answer", ""))
        options["text"] = typed or FALLBACK_RESPONSE_CONTENT
    elif action == "split":
        options["offset"] = _offset(form.get("at", ""))
    elif action == "delete":
        options["with_results"] = "keep_results" not in form
    elif action == "merge":
        options |= {"join": "join" in form, "separator": "\n" if "join" in form else ""}
    yield EditOptions.model_validate(options)


def _insertion(form: Mapping[str, str]) -> dict[str, object]:
    where, _, place = form.get("insert-place", "").partition(":")
    role = form.get("insert-role", "human")
    if where not in ("before", "after", "end") or role not in ROLES:
        raise OptionsError("Choose the message's place and role.")
    at = {"action": "append", "path": ""} if where == "end" else {"path": str(parse_path(place)), "where": where}
    return {
        **at,
        "role": role,
        "text": _lines(form.get("insert-text", "")),
        "name": form.get("insert-name", ""),
        "call_id": form.get("insert-id", ""),
        "arguments": _lines(form.get("insert-arguments", "")),
        "allow_invalid": "allow_invalid" in form,
    }


def _new_parts(form: Mapping[str, str], path: Path) -> list[dict[str, object]]:
    """Yield the parts to add. A text, a call and an image that were typed together become separate parts."""
    given = {name: _lines(form.get(f"{path.dom_id}-new-{name}", "")) for name in NEW_PART}
    common: dict[str, object] = {"allow_invalid": "allow_invalid" in form, "drop_reasoning": "drop_reasoning" in form}
    kinds = [{name: given[name] for name in kind} for kind in (("text",), ("name", "arguments"), ("url",))]
    return [{**kind, **common} for kind in kinds if any(kind.values())] or [common]


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _offset(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10):
        raise OptionsError("Enter where to split: the number of characters that stay in the first message.")
    return int(text)
