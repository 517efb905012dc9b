from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from chainviz.accounts.middleware import LocalOwnerMiddleware
from chainviz.accounts.models import User, local_owner


@pytest.mark.database
@pytest.mark.django_db
def test_whoever_opens_a_page_is_the_one_owner() -> None:
    seen = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.user.pk)
        return HttpResponse()

    for _ in range(2):
        LocalOwnerMiddleware(view)(RequestFactory().get("/"))
    assert seen == [local_owner().pk] * 2
    assert User.objects.count() == 1
    assert not local_owner().has_usable_password()


@pytest.mark.django_db
def test_a_page_that_needs_no_person_asks_the_database_nothing(client: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        client.get("/nothing")
