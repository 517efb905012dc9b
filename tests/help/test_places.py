"""The `?` of a page leads to its help page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from chainviz.core.operations import OPERATIONS
from chainviz.help.pages import NAMES
from chainviz.help.places import OF_NAMESPACES, OF_OPERATIONS, OF_VIEWS, help_page_of

pytestmark = pytest.mark.django_db


def all_views(resolver: URLResolver) -> set[str]:
    views: set[str] = set()
    for pattern in resolver.url_patterns:
        views |= {pattern.name or ""} if isinstance(pattern, URLPattern) else all_views(pattern)
    return views


def test_help_pages_views_and_operations_exist() -> None:
    assert {*OF_NAMESPACES.values(), *OF_VIEWS.values(), *OF_OPERATIONS.values()} <= set(NAMES)
    assert set(OF_VIEWS) <= all_views(get_resolver())
    assert set(OF_OPERATIONS) <= {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize(
    ("namespace", "view", "operation", "page"),
    [
        ("chains", "library", "", "start"),
        ("chains", "version", "", "explorer"),
        ("drafts", "operation", "mask", "redaction"),
        ("drafts", "repair", "repair", "fix"),
        ("", "purge", "", "redaction"),
        ("", "healthz", "", ""),
    ],
)
def test_each_place_has_its_page(namespace: str, view: str, operation: str, page: str) -> None:
    assert help_page_of(namespace, view, operation) == page


def test_the_question_mark_links_to_the_help_page(client: Client) -> None:
    assert 'href="/help/start/">Help: Start</a>' in client.get("/?page=1").content.decode()
    missing = client.get("/no/such/page/").content.decode()
    assert "Help: " not in missing and 'href="/help/"' in missing
