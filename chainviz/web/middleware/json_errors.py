"""Every refusal and fault of the API is JSON, {"error": one sentence, "where": the place, if there is one}."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

API = "/api/"
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
KEPT = ("Allow", "Retry-After")


def json_error(status: int, sentence: str = "", where: str = "") -> HttpResponse:
    text = sentence or SENTENCES.get(status, SENTENCES[400 if status < 500 else 500])
    response = JsonResponse({"error": text, "where": where}, status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


class JsonErrorsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = not response.get("Content-Type", "").startswith("application/json")
        if response.status_code < 400 or not is_page or not request.path.startswith(API):
            return response
        answer = json_error(response.status_code)
        for name in KEPT:
            if name in response:
                answer[name] = response[name]
        return answer
