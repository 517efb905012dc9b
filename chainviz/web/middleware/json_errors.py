"""Every error of the API is JSON: {"error": one sentence, "code": its kind, "where": the place, if there is one}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from django.http import HttpRequest, HttpResponse, JsonResponse

from chainviz.web.middleware.base import Middleware

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
