"""Watches a browser for everything that a hostile string could do, and tells what it saw."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponseBase
from playwright.sync_api import Error

POLICY, REPORTED_POLICY = "Content-Security-Policy", "Content-Security-Policy-Report-Only"
NOT_REPORTED = re.compile(r"\s*(?:sandbox|frame-ancestors [^;]*);")
"""Directives that a policy cannot have that only reports."""
EXPECTED = re.compile(r"status of 4\d\d|Status Error Code 404 from /c/\d+/presence/")
"""What the console says of a page that is refused; the second of a shown answer, whose new chain was taken back."""
HOOKS = """
window.pwned = (number) => { window.toldOfRun(`string ${number}`); return "" };
document.addEventListener("securitypolicyviolation", (event) => window.toldOfRun(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")
OUR_OWN = re.compile(
    r"<(?:b|p|li|ul|ol|td|tr|h[1-6]|pre|code|div|table|noscript|option|template|textarea|title|style|html|body|main|summary|svg|a|x)?>?"
)
"""Tags without attributes, which pages of ours have too."""
_TAG = re.compile(r"<[a-z!?][^>]*>?", re.IGNORECASE)


class Sink(ThreadingHTTPServer):
    """Another origin, on this machine: counts every connection and answers with a script that reports itself."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _SinkRequest)
        self.visits: list[str] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self.visits.append("a connection")
        super().process_request(request, client_address)


class _SinkRequest(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.visits.append(f"{self.command} {self.path}")  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(b"pwned('of the sink')")

    do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def sink() -> Iterator[Sink]:
    server = Sink()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def report_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switches the policies of all pages off: what they forbid happens, and is reported."""
    real = CSPMiddleware.process_response

    def reporting(self: CSPMiddleware, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        answer = real(self, request, response)
        if POLICY in answer:
            answer[REPORTED_POLICY] = NOT_REPORTED.sub("", f" {answer[POLICY]};").strip("; ")
            del answer[POLICY]
        return answer

    monkeypatch.setattr(CSPMiddleware, "process_response", reporting)


@dataclass
class Seen:
    """A page that was opened."""

    status: int
    links: list[str] = field(default_factory=list)
    """Addresses of ours that it leads to."""
    forms: list[dict[str, Any]] = field(default_factory=list)
    """That are sent with POST: `action`, `is_fragment`, `fields` as [name, type, value] and `buttons` as [name, value]."""


class Watch:
    """Of one page of a browser. `hits`: all that must not be."""

    def __init__(self, page: Any, site: str, strings: Sequence[str]) -> None:
        self.page, self.site, self.opened, self.parsed = page, site, 0, 0
        self.hits: list[str] = []
        self._tags = {tag for each in strings for tag in _TAG.findall(each) if not OUR_OWN.fullmatch(tag)}
        self._here = ""
        context = page.context
        context.expose_binding("toldOfRun", lambda source, what: self._hit(what))
        context.add_init_script(HOOKS)
        context.on("dialog", self._dialog)
        context.on("console", self._console)
        context.on("request", self._request)
        page.on("popup", lambda popup: self._hit(f"opens a window: {popup.url}"))
        page.on("frameattached", lambda frame: self._hit("has a frame"))
        debugger = context.new_cdp_session(page)
        debugger.on("Debugger.scriptParsed", self._script)
        debugger.send("Debugger.enable")

    def open(self, address: str, named: str = "") -> Seen:
        """Opens a page of ours and looks through it; around a picture or a text Chromium makes a page with styles of its own."""
        self._here, self.opened, before = named or address, self.opened + 1, len(self.hits)
        try:
            answer = self.page.goto(self.site + address)
        except Error as error:
            if "Download is starting" not in str(error):
                raise
            return Seen(200)
        if answer.status >= 500:
            self._hit(f"status {answer.status}")
        if "html" in answer.headers.get("content-type", ""):
            self._verbatim(answer.text())
            return self.look(answer.status)
        self._forget_styles(before)
        return Seen(answer.status)

    def read(self, address: str, html: str) -> None:
        """Looks through a page without opening it: the browser reads it, loads nothing and runs nothing. A shared page has
        styles that the policy of the open page does not know."""
        self._here, self.parsed, before = address, self.parsed + 1, len(self.hits)
        found = self.page.evaluate(AUDIT, html)
        self._forget_styles(before)
        self._verbatim(html)
        for each in found["wrong"]:
            self._hit(each)

    def _forget_styles(self, before: int) -> None:
        self.page.evaluate("0")  # what the browser reports has arrived then
        self.hits[before:] = [each for each in self.hits[before:] if "inline style" not in each and "style-src" not in each]

    def look(self, status: int = 200) -> Seen:
        """Looks through the page as it is now."""
        found = self.page.evaluate(AUDIT)
        for each in found["wrong"]:
            self._hit(each)
        return Seen(status, found["links"], found["forms"])

    def _verbatim(self, html: str) -> None:
        """A tag of a string that stands in the page as it is was not escaped."""
        for tag in self._tags:
            if tag in html:
                self._hit(f"not escaped: {tag}")

    def _hit(self, what: str) -> None:
        self.hits.append(f"{what[:400]} on {self._here[:400]}")

    def _dialog(self, dialog: Any) -> None:
        self._hit(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, said: Any) -> None:
        if said.type == "error" and not EXPECTED.search(said.text):
            self._hit(f"console: {said.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((f"{self.site}/", "data:image/", "about:")):
            self._hit(f"asks another origin: {request.url[:200]}")

    def _script(self, script: dict[str, Any]) -> None:
        """Scripts without an address are those of the test."""
        url = script["url"]
        if url and not (url.startswith(self.site) and urlsplit(url).path.startswith("/static/")):
            self._hit(f"runs a script of its own: {url[:200]}")
