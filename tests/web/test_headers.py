"""Every answer, errors included, carries the headers that keep hostile transcripts harmless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from chainviz.accounts.permissions import requires
from chainviz.urls import handler400, handler403, handler404, handler500, urlpatterns  # noqa: F401
from tests.web.headers import ALWAYS, missing_headers

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


@requires("public")
def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a bug")


@requires("public")
def takes_post(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.POST["text"])


urlpatterns = [*urlpatterns, path("broken", broken), path("post", takes_post)]


@pytest.fixture
def client() -> Iterator[Client]:
    with override_settings(ROOT_URLCONF=__name__):
        yield Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.mark.parametrize(
    ("request_it", "status"),
    [
        (lambda client: client.get("/?page=1"), 200),
        (lambda client: client.get("/nothing"), 404),
        (lambda client: client.get("/broken"), 500),
        (lambda client: client.post("/"), 403),
        (lambda client: client.get("/", headers={"host": "evil.example"}), 400),
        (lambda client: client.post("/post", headers={"content-length": "99999999999"}), 413),
    ],
    ids=["page", "not found", "bug", "no csrf token", "foreign host", "too large"],
)
def test_every_answer_has_the_headers(client: Client, request_it: Any, status: int) -> None:
    response = request_it(client)
    assert response.status_code == status
    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert missing_headers(response) == []
    assert b"<h1" in response.content


@pytest.mark.parametrize("host", ["testserver", "evil.example"])
def test_a_plain_request_is_sent_to_https_of_this_host_with_all_headers(settings: Any, host: str) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_SSL_HOST = True, "chainviz.example.org"
    response = Client().get("/s/token/", headers={"host": host})
    assert (response.status_code, response["Location"]) == (301, "https://chainviz.example.org/s/token/")
    assert missing_headers(response, may_be_cached=True) == []


def test_a_foreign_host_is_refused_under_https_too(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_SSL_HOST = True, "chainviz.example.org"
    response = Client().get("/", headers={"host": "evil.example"}, secure=True)
    assert (response.status_code, missing_headers(response)) == (400, [])


def test_files_of_ours_have_them_and_may_be_cached(settings: Any) -> None:
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = True
    response = Client().get("/static/css/base.css")
    assert (response.status_code, missing_headers(response, may_be_cached=True)) == (200, [])


def test_an_answer_without_them_is_noticed() -> None:
    assert len(missing_headers(HttpResponse())) == 6
    assert missing_headers(HttpResponse(headers={**ALWAYS, "Cache-Control": "no-store", "Content-Disposition": "attachment"})) == [
        "Content-Security-Policy"
    ]


def test_form_text_beyond_the_limit_is_413(client: Client) -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10):
        client.cookies["chainviz_csrf"] = "a" * 32
        response = client.post(
            "/post", {"text": "x" * 100}, headers={"x-csrftoken": "a" * 32}, content_type="application/x-www-form-urlencoded"
        )
    assert response.status_code == 413


def test_a_bug_in_every_page_still_answers_in_one_sentence(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> HttpResponse:
        raise ValueError("no page can be made")

    monkeypatch.setattr("chainviz.web.errors.render", fail)
    response = client.get("/broken")
    assert (response.status_code, response["Content-Type"]) == (500, "text/plain")
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_an_address_that_only_takes_forms_has_a_page_for_those_who_look(client: Client) -> None:
    answer = client.get("/upload/")

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only accepts form submissions" in answer.content.decode()
