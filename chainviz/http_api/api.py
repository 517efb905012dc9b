"""The addresses below /api/v1/, who may use each (what `@requires` of its function says), and the page that lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.operation import Operation

from chainviz.accounts.permissions import requires
from chainviz.http_api import chains, drafts, labels, reviews, threads, uploads
from chainviz.http_api.errors import ANSWER_HEADER, PARAMETER, add_handlers


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str
    is_required: bool
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A method of an address."""

    group: str
    method: str
    path: str
    text: str
    fields: tuple[Field, ...]
    """The fields of the query and of the body."""
    answers: str
    """The statuses of successful answers."""

    @property
    def paragraphs(self) -> list[str]:
        return self.text.split("\n\n")


def calls(description: Mapping[str, Any], prefix: str) -> list[tuple[str, list[Call]]]:
    """Returns the calls by group."""
    schemas = description["components"]["schemas"]
    found = [
        _call(method.upper(), path.removeprefix(prefix), said, schemas)
        for path, methods in description["paths"].items()
        for method, said in methods.items()
    ]
    return [(group, list(rows)) for group, rows in groupby(found, key=lambda call: call.group)]


def _call(method: str, path: str, said: Mapping[str, Any], schemas: Mapping[str, Any]) -> Call:
    fields = [
        Field(each["name"], _type(each["schema"]), each["required"], each.get("description", ""))
        for each in said.get("parameters", [])
        if each["in"] in ("query", "header")
    ]
    answers = ", ".join(str(status) for status in said["responses"] if str(status).startswith("2"))
    return Call(said["tags"][0], method, path, said["description"], (*fields, *_body(said, schemas)), answers)


def _body(said: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Field]:
    for kind, content in said.get("requestBody", {}).get("content", {}).items():
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        if not name:
            yield Field("(body)", kind, True, said["requestBody"]["description"])
            continue
        required = schemas[name].get("required", ())
        for field, schema in schemas[name]["properties"].items():
            yield Field(field, _type(schema), field in required, schema.get("description", ""))


def _type(schema: Mapping[str, Any]) -> str:
    kinds = [each["type"] for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    return " or ".join(kinds)


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
