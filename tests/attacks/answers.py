"""What the forms of all pages answer to hostile strings in every field; nothing that they change stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from typing import Any

from django.db import transaction
from django.test import Client
from django.utils.datastructures import MultiValueDict

from chainviz.chains.uploads import staging
from tests.attacks.world import World

TYPED = ("text", "textarea", "search", "email", "url", "password")
VERB = re.compile(r"[a-z_]*")
Form = dict[str, Any]
"""As audit.js gives it."""


def answers(client: Client, forms: Iterable[Form], world: World, most_buttons: int) -> Iterator[tuple[str, bytes]]:
    """The address of each form and the HTML of its answer, or of the page that it leads to; for each kind of button, with one
    string in each field and with many, which most fields refuse."""
    turn = cycle(world.strings)
    for form in forms:
        buttons = {(name, VERB.match(value)[0]): (name, value) for name, value in form["buttons"]}  # type: ignore[index]
        is_typed = any(kind in TYPED for _, kind, _ in form["fields"])
        for button in list(buttons.values())[:most_buttons] or [("", "")]:
            yield form["action"], _answer(client, form, _filled_in(form, button, lambda: next(turn)))
            if is_typed:
                yield form["action"], _answer(client, form, _filled_in(form, button, lambda: world.line))


def _filled_in(form: Form, button: tuple[str, str], typed: Callable[[], str]) -> dict[str, list[str]]:
    sent: MultiValueDict[str, str] = MultiValueDict()
    for name, kind, value in form["fields"]:
        text = typed() if kind in TYPED else value
        sent.appendlist(name, text.encode(errors="replace").decode())  # as a browser sends half a surrogate pair
    sent.appendlist(*button)
    return dict(sent.lists())


def _answer(client: Client, form: Form, fields: dict[str, list[str]]) -> bytes:
    headers = {"HX-Request": "true"} if form["is_fragment"] else {}
    waiting = {file: file.read_bytes() for file in staging.folder().iterdir()}
    cookies = client.cookies.output()
    with transaction.atomic():
        answer = client.post(form["action"], fields, headers=headers)
        if answer.status_code in (302, 303):
            answer = client.get(answer["Location"])
        html = answer_of(answer)
        transaction.set_rollback(True)
    for file, content in waiting.items():
        file.write_bytes(content)
    client.cookies.load(cookies.replace("Set-Cookie: ", ""))
    return html


def answer_of(answer: Any) -> bytes:
    """Its HTML; empty where it is something else."""
    assert answer.status_code < 500, answer.request["PATH_INFO"]
    is_page = "html" in answer.get("Content-Type", "") and "attachment" not in answer.get("Content-Disposition", "")
    return bytes(answer.getvalue()) if is_page else b""
