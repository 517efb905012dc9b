"""A form of our own pages is accepted by the browser and by Django, with scripts and without."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import path

from chainviz.accounts.permissions import requires
from chainviz.urls import handler400, handler403, handler404, handler500, urlpatterns  # noqa: F401

PAGE = """{% extends "base.html" %}{% block main %}<h1>Form</h1>
<form method="post" {% if with_htmx %}hx-post="/form" hx-target="#answer"{% endif %}>{% csrf_token %}
<label>Text <input name="text"></label><button>Send</button></form><p id="answer"></p>{% endblock %}"""


@requires("public")
def form(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        text = request.POST["text"]
        return HttpResponse(f"got {text}", status=200 if text == "fine" else 422)
    page = engines["django"].from_string(PAGE)
    return HttpResponse(page.render({"with_htmx": "htmx" in request.GET}, request))


urlpatterns = [*urlpatterns, path("form", form)]


@pytest.fixture(autouse=True)
def with_form(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__


def send(page: Any, text: str) -> None:
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Send").click()


def test_a_plain_form_passes_the_csrf_check(page: Any, live_server: Any) -> None:
    page.goto(f"{live_server.url}/form")
    send(page, "fine")
    page.get_by_text("got fine").wait_for()


def test_a_plain_form_passes_without_scripts(plain_page: Any, live_server: Any) -> None:
    plain_page.goto(f"{live_server.url}/form")
    send(plain_page, "fine")
    plain_page.get_by_text("got fine").wait_for()


def test_an_error_of_a_form_is_shown_in_place(page: Any, live_server: Any, faults: list[str]) -> None:
    page.goto(f"{live_server.url}/form?htmx")
    send(page, "wrong")
    page.locator("#answer").get_by_text("got wrong").wait_for()
    assert [fault for fault in faults if "422" not in fault] == []
    faults.clear()


def test_a_server_that_is_gone_is_told(page: Any, live_server: Any, faults: list[str]) -> None:
    page.goto(f"{live_server.url}/form?htmx")
    page.route("**/form", lambda route: route.abort())
    send(page, "fine")
    page.get_by_role("status").get_by_text("does not answer").wait_for()
    faults.clear()


def test_a_form_that_follows_what_is_typed_sends_what_its_element_adds(page: Any, live_server: Any) -> None:
    """htmx adds the button that had the focus, which must not be pressed; the values of `hx-vals` have the name of a button too."""
    page.goto(f"{live_server.url}/form")
    sent = page.evaluate("""() => {
        const form = document.querySelector("main form");
        form.setAttribute("hx-vals", '{"act": "look"}');
        form.insertAdjacentHTML("beforeend", '<button name="act" value="save"></button><button name="do" value="save"></button>');
        const detail = { elt: form, triggeringEvent: new Event("change"), parameters: { act: "look", do: "save", text: "" } };
        form.dispatchEvent(new CustomEvent("htmx:configRequest", { detail, bubbles: true }));
        return detail.parameters;
    }""")
    assert sent == {"act": "look", "text": ""}
