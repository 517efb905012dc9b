"""The form of a node: long arguments are edited indented and keep their own style, and the places of a new message have names."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.edit.arguments import indented, on_one_line
from chainviz.drafts.models import Draft
from tests.chains.files import send
from tests.drafts.pages import fields_of, send_form
from tests.drafts.test_edit import contents

VALUE = {"file_path": "/yard/shop.py", "edits": [{"old": "größe", "new": "size\nand colour"}], "count": 3, "note": "x" * 40}
COMPACT = json.dumps(VALUE, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("text", [COMPACT, json.dumps(VALUE), json.dumps(VALUE, separators=(",", ":"))])
def test_a_line_of_any_usual_style_comes_back_byte_for_byte(text: str) -> None:
    shown = indented(text)
    assert shown.startswith('{\n  "file_path": "/yard/shop.py",\n  "edits": [\n')
    assert on_one_line(shown, text) == text
    assert on_one_line(shown.replace("shop", "till"), text) == text.replace("shop", "till")


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a.py"}', '{"a": 1, "a": 2, "long": "' + "x" * 90 + '"}', '{"number": 1.50, "long": "' + "x" * 90 + '"}',
        '{"cut": "' + "x" * 90, '{ "spaced": "' + "x" * 90 + '"}', "[" * 100_000, '{"long":\n"' + "x" * 90 + '"}',
    ],
)  # fmt: skip
def test_what_would_not_come_back_is_shown_as_it_is(text: str) -> None:
    assert indented(text) == text == on_one_line(text, text)


def test_invalid_json_stays_as_it_was_typed() -> None:
    assert on_one_line('{"a": ', COMPACT) == '{"a": '


@pytest.mark.django_db
def test_a_form_shows_them_indented_and_writes_one_line() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "edit", "arguments": COMPACT}}
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    client = Client()
    send(client, ("call.json", json.dumps([*messages, {"role": "tool", "tool_call_id": "call_1", "content": "ok"}]).encode()))
    address = f"/c/{Chain.objects.get().pk}/edit/s1.p1?v=1"
    shown = fields_of(client.get(address).content.decode())["s1-p1-m0-c0-text"][0]
    assert json.loads(shown) == VALUE and shown.count("\n") > 8
    assert "Nothing has changed yet" in send_form(client, address).content.decode()
    assert send_form(client, address, s1__p1__m0__c0__text=shown.replace("shop", "till")).status_code == 303
    assert contents(Draft.objects.get())[1].endswith(COMPACT.replace("shop", "till"))


@pytest.mark.django_db
def test_the_places_of_a_new_message_are_named_by_the_messages_around_it() -> None:
    calls = [{"id": f"call_{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in (1, 2)]
    results = [{"role": "tool", "tool_call_id": f"call_{i}", "content": "ok"} for i in (1, 2)]
    client = Client()
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    send(client, ("calls.json", json.dumps(messages).encode()))
    page = client.get(f"/c/{Chain.objects.get().pk}/edit/s1.p1?v=1").content.decode()
    assert "after tool message 2<" in page and "after the AI message<" in page and "after s1" not in page
