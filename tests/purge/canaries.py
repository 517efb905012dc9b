"""Fifty values that must be nowhere after a purge, a document full of them, and where to look for them."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.apps import apps
from django.db import connection

from chainviz.store.content.codec import unpack, unpack_body

COUNT = 50


def canary(number: int) -> str:
    """Return a value with a quotation mark, a slash and a letter beyond ASCII, so that its JSON spellings differ."""
    return f'cänary/{number:02}"zq{number * 7919 % 9973:04}xw'


CANARIES = [canary(number) for number in range(COUNT)]


def spelled(value: str) -> list[bytes]:
    """Written here by other means than the product's."""
    raw = value.encode()
    return [
        raw,
        json.dumps(value)[1:-1].encode(),
        json.dumps(value, ensure_ascii=False)[1:-1].encode(),
        base64.b64encode(raw).rstrip(b"=")[:-1],
        quote(value, safe="").encode(),
        quote(value).encode(),
        quote(quote(value, safe=""), safe="").encode(),
        raw.hex().encode(),
        *(escaped(value, json_escapes).encode() for json_escapes in ("\\u%04X", "\\\\u%04x")),
    ]


def escaped(value: str, escape: str) -> str:
    return "".join(escape % ord(letter) for letter in value)


def document() -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"Be quiet about {CANARIES[0]}."}]
    for number, value in enumerate(CANARIES):
        encoded = base64.b64encode(f"user:{value}".encode()).decode()
        messages += [
            {"role": "user", "content": f"Say {value} or {quote(value, safe='')}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"c{number}",
                        "type": "function",
                        "function": {"name": "login", "arguments": json.dumps({"who": value, "basic": encoded})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps({"nested": json.dumps({"v": value})})},
            {"role": "assistant", "content": f"It was {value[:4]}, {value.encode().hex()}, {quote(quote(value, safe=''), safe='')}."},
        ]
    whole = {
        "run": {"escaped": "@ESCAPED@", "env": CANARIES[:5], "basic": base64.b64encode(CANARIES[5].encode()).decode()},
        "messages": messages,
    }
    text = json.dumps(whole, ensure_ascii=False)
    return text.replace("@ESCAPED@", escaped(CANARIES[6], "\\u%04X")).encode()


def stored(*, jobs: bool = True) -> bytes:
    """Everything in every table, with what is packed unpacked as well."""
    found: list[bytes] = []
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if not jobs and model._meta.app_label == "jobs":
                continue
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(model._meta.db_table)}")
            for row in cursor.fetchall():
                for value in row:
                    content = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode("utf-8", "replace")
                    found.append(content)
                    for read in (unpack_body, unpack):
                        try:
                            opened = read(content)
                        except Exception:
                            continue
                        found.append(opened if isinstance(opened, bytes) else json.dumps(opened, ensure_ascii=False).encode())
    return b"\n".join(found)


def files() -> bytes:
    """The files of the database, where they can be read."""
    if connection.vendor == "sqlite":
        name = Path(connection.settings_dict["NAME"])
        # by another program: when a process closes a file, its SQLite connections lose their locks on it
        return subprocess.run(["cat", *name.parent.glob(f"{name.name}*")], stdout=subprocess.PIPE, check=True).stdout
    return b""


def held(content: bytes) -> list[str]:
    return [value for value in CANARIES if any(spelling in content for spelling in spelled(value))]
