"""The addresses of the explorer below a version or a draft."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path

from chainviz.chains.bytes import bytes_page as bytes
from chainviz.chains.explorer import place_views, views
from chainviz.chains.explorer import views as explorer
from chainviz.chains.explorer import views as inspect
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import no_node
from chainviz.chains.exports import downloads as export
from chainviz.chains.observations import results_page as observations
from chainviz.chains.palette import chain_palette
from chainviz.chains.parse import parse_pages as parse
from chainviz.core.errors import PathError

SubjectView = Callable[..., HttpResponseBase]
FindSubject = Callable[..., Subject]


def explorer_urls(subject_of: FindSubject, prefix: str = "") -> list[URLPattern]:
    """Return the addresses of the explorer. `subject_of(request, **kwargs)` returns the subject from the first part of the address;
    names get the prefix."""

    def on(view: SubjectView, *own: str) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def answer(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            mine = {name: kwargs.pop(name) for name in own}
            try:
                return view(request, subject_of(request, **kwargs), **mine)
            except PathError as error:
                return no_node(request, subject_of(request, **kwargs), str(error), mine.get("where", ""))

        return answer

    return [
        path("", on(explorer.explorer), name=f"{prefix}version"),
        path("at/<str:where>", on(explorer.at, "where"), name=f"{prefix}at"),
        path("rows", on(explorer.rows), name=f"{prefix}rows"),
        path("outline", on(explorer.outline), name=f"{prefix}outline"),
        path("node/<str:where>", on(views.node, "where"), name=f"{prefix}node"),
        path("part/<str:where>", on(views.part, "where"), name=f"{prefix}part"),
        path("image/<str:where>", on(views.image, "where"), name=f"{prefix}image"),
        path("raw/<str:where>", on(views.raw, "where"), name=f"{prefix}raw"),
        path("inspect/<str:where>", on(inspect.inspect, "where"), name=f"{prefix}inspect"),
        path("replaced/<str:where>", on(views.replaced, "where"), name=f"{prefix}replaced"),
        path("find", on(place_views.find), name=f"{prefix}find"),
        path("goto", on(place_views.goto), name=f"{prefix}goto"),
        path("problems", on(place_views.problem_page), name=f"{prefix}problems"),
        path("problems/step", on(place_views.step), name=f"{prefix}problem_step"),
        path("palette", on(chain_palette), name=f"{prefix}chain_palette"),
        path("bytes", on(bytes.bytes_view), name=f"{prefix}bytes"),
        path("observations", on(observations.observations), name=f"{prefix}observations"),
        path("observations/media", on(observations.media), name=f"{prefix}observation_media"),
        path("observations/text/<str:where>", on(observations.as_text, "where"), name=f"{prefix}observation_text"),
        path("parse/<str:where>", on(parse.parse_message, "where"), name=f"{prefix}parse"),
        path("export", on(export.export), name=f"{prefix}export"),
    ]
