"""Small transcripts to upload, the ways a test uploads them, and the text of a page."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi, what can I do?"}]


def chat(*more: dict[str, Any], say: str = "Hello") -> bytes:
    return json.dumps([{"role": "user", "content": say}, HELLO[1], *more]).encode()


def lines(count: int) -> bytes:
    """A file with a chain on every line."""
    return b"".join(
        json.dumps({"messages": [{"role": "user", "content": f"Question {number}"}, HELLO[1]]}).encode() + b"\n" for number in range(count)
    )


def send(client: Client, *files: tuple[str, bytes], **fields: str) -> Any:
    """Uploads as a browser without JavaScript does."""
    return client.post("/upload/", {"file": [SimpleUploadedFile(name, body) for name, body in files], **fields})


def send_row(client: Client, name: str, body: bytes, **fields: str) -> Any:
    """Uploads as the page's script does: one request a file, answered by a row."""
    posted = {"file": SimpleUploadedFile(name, body), "among": "1", **fields}
    return client.post("/upload/", posted, headers={"HX-Request": "true"})


def page_text(address: str) -> str:
    """Return the text of a page without its tags, with one space between words."""
    response = Client().get(address)
    assert response.status_code == 200, address
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())
