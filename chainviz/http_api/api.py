"""The addresses below /api/v1/ and who may use each: what `@requires` of its function says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.operation import Operation

from chainviz.accounts.permissions import requires
from chainviz.http_api import chains, drafts, labels, reviews, threads, uploads
from chainviz.http_api.errors import add_handlers
from chainviz.http_api.page import calls
from chainviz.http_api.repeat import ANSWER_HEADER, PARAMETER

ROUTERS = (uploads.router, chains.router, drafts.router, threads.router, labels.router, reviews.router)
BASE = "/api/v1"


class ChainvizAPI(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


def make_api() -> NinjaAPI:
    api = ChainvizAPI(title="chainviz", version="1", urls_namespace="api", docs_url=None, openapi_url=None)
    add_handlers(api)
    for router in ROUTERS:
        api.add_router("", router)
    return api


API = make_api()


def _operations() -> Iterator[Operation]:
    return (each for router in ROUTERS for view in router.path_operations.values() for each in view.operations)


def _urls() -> list[URLPattern]:
    views = {each.view_func.__name__: each.view_func for each in _operations()}
    found = [each for each in API.urls[0] if isinstance(each, URLPattern) and each.name in views]
    for each in found:
        view: Any = views[each.name or ""]
        requires(view.access, team_mode=view.team_mode)(each.callback)
        each.callback.takes_tokens = True  # type: ignore[attr-defined]
    return found


@cache
def description() -> dict[str, Any]:
    """Returns the OpenAPI document."""
    found = dict(API.get_openapi_schema(path_prefix=f"{BASE}/"))
    _describe_repeatable(found["paths"])
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {**found, "security": [{"token": []}]}


def _describe_repeatable(paths: dict[str, Any]) -> None:
    names = {each.view_func.__name__ for each in _operations() if getattr(each.view_func, "is_repeatable", False)}
    for said in (said for methods in paths.values() for said in methods.values() if said["operationId"] in names):
        said["parameters"] = [*said["parameters"], PARAMETER]
        for status, answer in said["responses"].items():
            if int(status) < 300:
                answer["headers"] = ANSWER_HEADER


@requires("public")
@require_safe
def openapi(request: HttpRequest) -> JsonResponse:
    return JsonResponse(description())


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The description of the API as a page. It loads only our own style sheets and needs no script."""
    return render(request, "http_api/api.html", {"groups": calls(description(), BASE), "base": BASE})


app_name = "api"
urlpatterns = [*_urls(), path("", requires("public")(page), name="page"), path("openapi.json", openapi, name="openapi")]
