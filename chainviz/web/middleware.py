"""Middleware, from the outermost: trusted proxies, the log of requests, limits of uploads, errors, and pages without a view."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from ipaddress import ip_address
from typing import Any, ClassVar, Literal
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed, JsonResponse

from chainviz.web.errors import too_busy, too_large, wrong_method


class Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class TrustedProxyMiddleware(Middleware):
    """The first of all: what comes behind it reads REMOTE_ADDR and the scheme."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if not is_trusted(request.META.get("REMOTE_ADDR", "")):
            for name in ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_REQUEST_ID"):
                request.META.pop(name, None)
        elif forwarded:
            request.META["REMOTE_ADDR"] = client_of(forwarded)
        return self.get_response(request)


def client_of(forwarded: str) -> str:
    """Return the last address that no trusted proxy has: any client may have written what precedes it."""
    addresses = [each.strip() for each in forwarded.split(",")]
    return next((each for each in reversed(addresses) if not is_trusted(each)), addresses[0])


def is_trusted(address: str) -> bool:
    try:
        client = ip_address(address)
    except ValueError:
        return False
    return any(client in network for network in settings.CHAINVIZ.proxy_networks)


log = logging.getLogger("chainviz.requests")
request_id: ContextVar[str] = ContextVar("request_id", default="")
HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[\w.-]{1,64}", re.ASCII)


class RequestLogMiddleware:
    """Log each request. Must be after TrustedProxyMiddleware, so that the id of a trusted proxy is kept, and after static files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        request_id.set(given if ACCEPTED.fullmatch(given) else uuid4().hex)  # until the next request: Django logs after us
        start = time.perf_counter()
        response = self.get_response(request)
        response[HEADER] = request_id.get()
        log.info("request", extra={"facts": _facts(request, response, time.perf_counter() - start)})
        return response


class PathFilter(logging.Filter):
    """Writes the route where Django's own records hold the path."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            match = request.resolver_match
            route = f"/{match.route}" if match else "an unknown address"
            record.args = tuple(route if each == request.path else each for each in record.args)
        return True


def _facts(request: HttpRequest, response: HttpResponseBase, seconds: float) -> dict[str, object]:
    match = request.resolver_match
    numbers = {name: value for name, value in (match.kwargs if match else {}).items() if isinstance(value, int)}
    return {
        "method": request.method,
        "route": match.route if match else None,
        **numbers,
        "status": response.status_code,
        "seconds": round(seconds, 4),
        "client": request.META.get("REMOTE_ADDR"),
    }


class UploadLimitMiddleware(Middleware):
    """Refuse a request that announces more than CHAINVIZ_MAX_UPLOAD_MB before a byte of its body is read."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if announced.isdigit() and int(announced) > settings.CHAINVIZ.max_upload_mb * 1_000_000:
            return too_large(request)
        return self.get_response(request)


LARGE = 1_000_000
"""The size in bytes from which a request counts as an upload."""
AT_ONCE = 36
"""The most in all processes of a server, each of which has 48 threads."""


class UploadsAtOnceMiddleware(Middleware):
    """Refuse large requests beyond a limit, so that threads are left for readers: a stalled upload occupies its thread."""

    at_once: ClassVar[int] = AT_ONCE
    """The most in this process. `chainviz serve` divides the number among its processes before it starts them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        self.free = threading.BoundedSemaphore(self.at_once)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if not announced.isdigit() or int(announced) < LARGE:
            return self.get_response(request)
        if not self.free.acquire(blocking=False):
            return too_busy(request)
        try:
            return self.get_response(request)
        finally:
            self.free.release()


PAGES_AT_ONCE = 3
"""The number of pages that a process renders at once. Python runs one thread at a time; with 48 that take turns, a page costs a third
more processor time."""
PATIENCE = 2.0
"""The seconds after which a page is rendered beside the others, so that slow ones do not hold up all."""


class PagesAtOnceMiddleware(Middleware):
    """Let a page wait while the process renders others. Requests with a body do not wait, because a slow client may send them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        self._room = threading.Semaphore(PAGES_AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD") or not self._room.acquire(timeout=PATIENCE):
            return self.get_response(request)
        try:
            return self.get_response(request)
        finally:
            self._room.release()


PROGRAMS = ("/api/", "/mcp")
"""The beginnings of addresses for programs."""
SENTENCES = {
    400: "The request cannot be read.",
    401: "Send a token in the header “Authorization: Bearer …”.",
    403: "The request has no token, and no page's CSRF token in the X-CSRFToken header.",
    404: "There is nothing here: the address is wrong, it was deleted, or you have no access.",
    405: "This address does not accept this method.",
    409: "The draft was saved or discarded meanwhile.",
    413: "The request is larger than this server accepts (CHAINVIZ_MAX_UPLOAD_MB).",
    500: "chainviz made a mistake; its log says more.",
    503: "The server is receiving as many files as it can; try again in half a minute.",
    507: "The server's disk is full, so nothing was changed.",
}
Code = Literal[
    "busy", "conflict", "disk-full", "draft-closed", "export-locked", "fault", "forbidden", "invalid-field", "invalid-options",
    "invalid-request", "key-reused", "method-not-allowed", "missing-role", "missing-scope", "not-found", "not-installed", "refused",
    "too-large", "unauthenticated", "unknown-path", "unreadable-file",
]  # fmt: skip
"""The kind of error, for programs; the sentences can change."""
CODES: Mapping[int, Code] = {
    400: "invalid-request", 401: "unauthenticated", 403: "forbidden", 404: "not-found", 405: "method-not-allowed", 409: "conflict",
    413: "too-large", 422: "refused", 501: "not-installed", 503: "busy", 507: "disk-full",
}  # fmt: skip
KEPT = ("Allow", "Retry-After")


def json_error(status: int, sentence: str = "", where: str = "", code: Code | None = None) -> HttpResponse:
    usual: Code = CODES.get(status, "invalid-request" if status < 500 else "fault")
    text = sentence or SENTENCES.get(status, SENTENCES[400 if status < 500 else 500])
    response = JsonResponse({"error": text, "code": code or usual, "where": where}, status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


class JsonErrorsMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = not response.get("Content-Type", "").startswith("application/json")
        if response.status_code < 400 or not is_page or not request.path.startswith(PROGRAMS):
            return response
        answer = json_error(response.status_code)
        for name in KEPT:
            if name in response:
                answer[name] = response[name]
        return answer


PAGE_METHODS = ("GET", "HEAD", "POST")


class MethodPageMiddleware(Middleware):
    """Answer 405 for other methods of pages, which would be taken for GET; the API states its own (`takes_tokens`)."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.streaming or response.content:
            return response
        page = wrong_method(request)
        page["Allow"] = response["Allow"]
        return page

    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> HttpResponse | None:
        if request.method in (*PAGE_METHODS, "OPTIONS") or getattr(view, "takes_tokens", False):
            return None
        return HttpResponseNotAllowed(PAGE_METHODS)


class NoStoreMiddleware(Middleware):
    """Forbid browsers to store pages. Must be after WhiteNoise, because static files may be cached."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Cache-Control"] = "no-store"
        return response
