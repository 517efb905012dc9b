"""`chainviz push`: uploads files to a server, such as a team's, and prints the link of each chain."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from chainviz.commands.io.files import add_files, inputs, tell
from chainviz.core.errors import ChainError, DocumentError, OptionsError, Refused
from chainviz.core.terminal import visible

TOKEN = "CHAINVIZ_TOKEN"
SECONDS_BETWEEN = 1.0
"""While the server imports a large file."""
LONGEST = 600.0
"""Seconds that the server may take for one answer."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    parser.add_argument(
        "--to",
        metavar="URL",
        required=True,
        help=f"address of the server; the environment variable {TOKEN} holds a token",
    )


def run(arguments: argparse.Namespace) -> int:
    server = Server(arguments.to, os.environ.get(TOKEN, ""))
    code = 0
    for each in inputs(arguments.files):
        try:
            links = server.push(each.place, _content(each.name))
        except ChainError as error:
            print(f"chainviz: {visible(each.name)}: {error}", file=sys.stderr)
            code = max(code, 1 if isinstance(error, Refused) else 2)
        else:
            tell(visible(link) for link in links)
    return code


def _content(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise DocumentError(f"it cannot be read: {error.strerror or error}.") from None


class NoRedirect(HTTPRedirectHandler):
    """The token goes to the named server only."""

    def redirect_request(self, *answer: Any) -> None:
        return None


class Server:
    def __init__(self, address: str, token: str) -> None:
        """Raises OptionsError."""
        if urlsplit(address).scheme not in ("http", "https"):
            raise OptionsError("--to needs the address of a server, such as https://chainviz.example.org.")
        if not token:
            raise OptionsError(f"Set {TOKEN} to a token; the page “API tokens” of the server makes one.")
        self._address = address.rstrip("/")
        self._token = token
        self._opener = build_opener(NoRedirect)

    def push(self, name: str, content: bytes) -> list[str]:
        """Returns the links of the chains. Raises Refused where the server does not take the file."""
        answer = self._ask(f"/api/v1/uploads?{urlencode({'name': name[-255:]})}", content)
        while answer["state"] == "importing":
            time.sleep(SECONDS_BETWEEN)
            answer = self._ask(f"/api/v1/uploads/{answer['id']}")
        if answer["state"] == "failed":
            raise Refused(answer["error"])
        return [chain["url"] for chain in answer["chains"]] or [f"{self._address}/"]

    def _ask(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/octet-stream"}
        try:
            with self._opener.open(Request(self._address + path, body, headers), timeout=LONGEST) as answer:
                found = json.load(answer)
            if isinstance(found, dict) and "state" in found:
                return found
            reason: object = "its answer is of another kind"
        except HTTPError as error:
            raise Refused(_sentence(error)) from None
        except (HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
        raise DocumentError(f"{self._address} does not answer as chainviz does: {reason}.")


def _sentence(error: HTTPError) -> str:
    """What the server says, else its status."""
    try:
        return visible(str(json.loads(error.read(100_000))["error"]))
    except (ValueError, KeyError, TypeError):
        return f"the server answers {error.code} {visible(error.reason)}."
