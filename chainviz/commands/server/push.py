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
from uuid import uuid4

from chainviz.commands.io import add_files, complain, inputs, tell
from chainviz.core.errors import ChainError, DocumentError, OptionsError, Refused

TOKEN = "CHAINVIZ_TOKEN"
SECONDS_BETWEEN = 1.0
"""The seconds between two requests for the progress of a large import."""
WAITS = (1.0, 2.0, 4.0)
"""The seconds before each repetition of a request without an answer."""
BUSY = {502, 503, 504}
"""The status codes of a reverse proxy while its server restarts."""
MEMBERS = {"state", "checks"}
"""Members, one of which is in every valid answer: to an upload, or to a review."""
LONGEST = 600.0
"""The most seconds to wait for one answer."""


def add_push_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    parser.add_argument("--to", metavar="URL", required=True, help=f"address of the server; the environment variable {TOKEN} holds a token")


def run_push(arguments: argparse.Namespace) -> int:
    server = Server(arguments.to, token_of_environment())
    code = 0
    for each in inputs(arguments.files):
        try:
            links = server.push(each.place, _content(each.name))
        except ChainError as error:
            complain(f"{each.name}: {error}")
            code = max(code, 1 if isinstance(error, Refused) else 2)
        else:
            tell(links)
    return code


def token_of_environment() -> str:
    return os.environ.get(TOKEN, "")


def _content(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise DocumentError(f"it cannot be read: {error.strerror or error}.") from None


class NoAnswer(Exception):
    """Raised if the server cannot be reached, or still works on the first request. The request may be repeated."""


class NoRedirect(HTTPRedirectHandler):
    """Refuses redirects, so that the token is sent only to the named server."""

    def redirect_request(self, *answer: Any) -> None:
        return None


class Server:
    def __init__(self, address: str, token: str) -> None:
        """Raise OptionsError if the address or the token is missing."""
        if urlsplit(address).scheme not in ("http", "https"):
            raise OptionsError("--to needs the address of a server, such as https://chainviz.example.org.")
        if not token:
            raise OptionsError(f"Set {TOKEN} to a token; create one on the server's “API tokens” page.")
        self._address = address.rstrip("/")
        self._token = token
        self._opener = build_opener(NoRedirect)

    def push(self, name: str, content: bytes) -> list[str]:
        """Upload a file and return the links of its chains. Raises Refused if the server does not accept the file."""
        query = urlencode({"name": name[-255:]}, errors="replace")
        answer = self.ask(f"/api/v1/uploads?{query}", content, uuid4().hex)
        while answer["state"] == "importing":
            time.sleep(SECONDS_BETWEEN)
            answer = self.ask(f"/api/v1/uploads/{answer['id']}")
        if answer["state"] == "failed":
            raise Refused(answer["error"])
        return [chain["url"] for chain in answer["chains"]] or [f"{self._address}/"]

    def ask(self, path: str, body: bytes | None = None, key: str = "") -> dict[str, Any]:
        """Return the JSON object that an address answers. `key`: by which the server knows a body that is sent again, so that it
        makes no second chain. Raises Refused and DocumentError."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/octet-stream"}
        request = Request(self._address + path, body, {**headers, "Idempotency-Key": key} if key else headers)
        for wait in WAITS:
            try:
                return self._ask_once(request)
            except NoAnswer:
                time.sleep(wait)
        try:
            return self._ask_once(request)
        except NoAnswer as error:
            raise DocumentError(f"{self._address} does not answer like chainviz: {error}.") from None

    def _ask_once(self, request: Request) -> dict[str, Any]:
        """Send a request once. Raises NoAnswer if it may be repeated."""
        try:
            with self._opener.open(request, timeout=LONGEST) as answer:
                found = json.load(answer)
        except HTTPError as error:
            if error.code in BUSY or (error.code == 409 and "Retry-After" in error.headers):
                raise NoAnswer(_sentence(error).rstrip(".")) from None
            raise Refused(_sentence(error)) from None
        except ValueError as error:
            reason: object = error
        except (HTTPException, OSError) as error:
            raise NoAnswer(getattr(error, "reason", error)) from None
        else:
            if isinstance(found, dict) and not MEMBERS.isdisjoint(found):
                return found
            reason = "its answer has another form"
        raise DocumentError(f"{self._address} does not answer like chainviz: {reason}.")


def _sentence(error: HTTPError) -> str:
    """Return the server's error sentence, or its status if it sent none."""
    try:
        return str(json.loads(error.read(100_000))["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answers {error.code} {error.reason}."
