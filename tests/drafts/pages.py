"""Reads forms off pages and sends them as a browser without JavaScript does."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.test import Client

from chainviz.drafts import stored_draft
from chainviz.drafts.models import Draft
from chainviz.drafts.stored_draft import Steps
from chainviz.store.models import Snapshot


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self._text: str | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        kind = given.get("type", "text")
        if tag == "textarea":
            self._text = name
            self.fields[name] = [""]
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._select not in self.fields):
            self.fields[self._select] = [given.get("value") or ""]
        elif tag == "input" and name and (kind not in ("checkbox", "radio") or "checked" in given):
            self.fields.setdefault(name, []).append(given.get("value") or ("on" if kind == "checkbox" else ""))

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self.fields[self._text][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text is not None:
            # the first line break after the tag is the parser's own
            self.fields[self._text][0] = self.fields[self._text][0].replace("\r\n", "\n").removeprefix("\n").replace("\n", "\r\n")
            self._text = None
        if tag == "select":
            self._select = ""


def fields_of(page: str) -> dict[str, list[str]]:
    """Return the fields that the unchanged forms of a page would send."""
    reader = _Fields()
    reader.feed(page[page.index("<main") :])
    return reader.fields


def send_form(client: Client, address: str, **changed: Any) -> Any:
    """The page's form with some fields changed (`-` in names written as `__`), sent to the page's own address."""
    fields: dict[str, Any] = dict(fields_of(client.get(address).content.decode()))
    fields.update({name.replace("__", "-"): value for name, value in changed.items()})
    return client.post(address, {name: value for name, value in fields.items() if value is not None})


def snapshot_of(draft: Draft) -> Snapshot:
    """Return the snapshot that the draft proposes now."""
    return stored_draft.snapshot_of(Draft.objects.get(pk=draft.pk))


def steps_of(draft: Draft) -> Steps:
    return stored_draft.steps_of(Draft.objects.get(pk=draft.pk))
