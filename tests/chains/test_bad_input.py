"""Bad and odd files through the upload page: refused in a sentence that says where, or taken and given back byte for byte."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass

import pytest
from django.test import Client

from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import staging
from chainviz.store.models import Upload
from tests.chains.files import chat, send, send_row

pytestmark = [pytest.mark.django_db, pytest.mark.database]

USER = b'{"role": "user", "content": "Hello"}'
ANSWER = b'{"role": "assistant", "content": "Hi"}'
LIST = b"[\n  " + USER + b",\n  " + ANSWER + b"\n]\n"


@dataclass(frozen=True)
class Refusal:
    body: bytes
    said: str
    line: int = 0
    column: int = 0
    salvage: int = 0
    as_text: bool = True


REFUSED = {
    "empty file": Refusal(b"", "The file is empty", as_text=False),
    "only white space": Refusal(b" \n\n\t", "The file is empty", as_text=False),
    "empty list": Refusal(b"[ ]", "empty"),
    "not JSON": Refusal(b"dear diary\nno JSON here", "this is not JSON", 1, 1),
    "single quotes": Refusal(b"[{'role': 'user'} {]", "", 1, 3),
    "missing comma": Refusal(b"[\n  " + USER + b"\n  " + ANSWER + b"\n]", "a comma is missing", 3, 3, 1),
    "trailing comma": Refusal(b"[" + USER + b",]", "", 1, 39, 1),
    "truncated in a message": Refusal(LIST[:-12], "cut off", 3, 0, 1),
    "truncated after a comma": Refusal(LIST[:43], "cut off", 3, 0, 1),
    "text behind the list": Refusal(LIST + b"more", "text after the end", 5, 1),
    "nested 100,000 deep": Refusal(b"[" * 100_000, "nested more than", 1, 257),
    "nested 30,000 deep in a message": Refusal(
        b'[{"role": "user", "content": ' + b'{"a":' * 30_000 + b"1" + b"}" * 30_000 + b"}]", "nested more than", 1
    ),
    "HTML": Refusal(b"<!DOCTYPE html>\n<html><body>Log in</body></html>", "HTML", 1, 1),
    "PNG": Refusal(b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG image", as_text=False),
    "zip": Refusal(b"PK\x03\x04" + bytes(200), "zip archive", as_text=False),
    "zeros": Refusal(bytes(100_000), "zero bytes", as_text=False),
    "unknown format": Refusal(b'[{"role": "user", "parts": [{"foo": 1}]}]', "no known format"),
    "no messages": Refusal(b'{"rows": [1, 2, 3]}', "no list of messages"),
    "half of UTF-16": Refusal(LIST.decode().encode("utf-16")[:-1], "UTF-16", as_text=False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence_with_its_place(client: Client, name: str) -> None:
    case = REFUSED[name]

    answer = send_row(client, "odd.json", case.body)

    page = html.unescape(re.sub(r"<[^>]+>", "", answer.content.decode()))
    sentence = Arrival.objects.get().sentence
    assert answer.status_code == 422
    assert " ".join(sentence.split()) in " ".join(page.split())
    assert "Nothing was stored." in page
    assert case.said in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 400
    place = re.match(r"Line (\d+), column (\d+): ", sentence)
    assert (int(place[1]) if place else 0) == case.line
    assert not case.column or (place and int(place[2]) == case.column)
    assert not Chain.objects.exists()
    assert not Upload.objects.exists()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_kept_as_promised(client: Client, name: str) -> None:
    case = REFUSED[name]
    send_row(client, "odd.json", case.body)
    arrival = Arrival.objects.get()
    assert arrival.failure["as_text"] == case.as_text
    assert arrival.failure["salvage"] == case.salvage
    assert bool(list(staging.folder().iterdir())) == bool(case.as_text or case.salvage)
    keep = f"/upload/{arrival.pk}/keep/"

    client.post(keep, {"how": "salvage" if case.salvage else "text"})

    if not (case.as_text or case.salvage):
        assert not Chain.objects.exists()
        return
    chain = Chain.objects.get()
    assert chain.messages == (case.salvage or 1)
    assert (chain.format == "raw") != bool(case.salvage)
    assert_opens_and_comes_back(client, chain, case.body)
    assert not list(staging.folder().iterdir())


def odd(extra: bytes) -> bytes:
    return b'[{"role": "user", "content": "Hello", ' + extra + b"}, " + ANSWER + b"]"


TAKEN = {
    "BOM": b"\xef\xbb\xbf" + LIST,
    "UTF-16": LIST.decode().encode("utf-16"),
    "UTF-16, big end first": b"\xfe\xff" + LIST.decode().encode("utf-16-be"),
    "NaN": odd(b'"x": NaN, "y": -Infinity'),
    "key twice": odd(b'"content": "Hello again", "x": 1, "x": 2'),
    "lone surrogates": odd(rb'"x": "\ud83d", "y": "\ude00\ud83d"').replace(b"Hello", rb"Hel\ud83dlo"),
    "NUL": odd(rb'"x": "\u0000"').replace(b"Hello", rb"Hel\u0000lo"),
    "NUL as it is": odd(b'"x": "\0"'),
    "number beyond float": odd(b'"x": 1e400, "y": -1e-400, "z": ' + b"9" * 6000),
    "no UTF-8": odd(b'"x": "\xff\xfe"').replace(b"Hello", b"Hel\xe9lo"),
    "objects glued on a line": USER + ANSWER,
    "broken lines between good ones": USER + b'\n{"role": "assi\n' + ANSWER + b"\nno JSON\n",
    "strangers in the list": b"[null, " + USER + b', 5, "x", ' + ANSWER + b"]",
    "carriage returns": LIST.replace(b"\n", b"\r\n"),
    "no line break at the end, spaces before": b"  \n" + LIST.rstrip(),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_only_odd_is_taken_and_comes_back_as_it_was(client: Client, name: str) -> None:
    assert send(client, ("odd.json", TAKEN[name])).status_code == 303

    chain = Chain.objects.get()
    assert chain.messages >= 2
    assert_opens_and_comes_back(client, chain, TAKEN[name])


def test_a_file_name_can_be_as_odd_as_its_content(client: Client) -> None:
    for name in ("\u202egnp.json", "<b>&'\".json", "a" * 250 + ".json", "..%2f..%2fpasswd", "名前.json"):
        assert send(client, (name, chat(say=name))).status_code == 303
        chain = Chain.objects.latest("pk")
        assert_opens_and_comes_back(client, chain, chat(say=name))


def assert_opens_and_comes_back(client: Client, chain: Chain, body: bytes) -> None:
    home = f"/c/{chain.pk}/v/1/"
    for page in ("", "at/s1.h.m0", "inspect/s1.h.m0", "raw/s1.h.m0", "problems", "find?q=Hel", "bytes", "export"):
        assert client.get(home + page).status_code in (200, 302), page
    for scope in ("chain", "file", "original"):
        given_back = b"".join(client.get(f"{home}export?scope={scope}").streaming_content)
        assert given_back == body, f"{scope} of {json.dumps(chain.title)}"
