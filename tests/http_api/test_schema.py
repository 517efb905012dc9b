"""Schemathesis asks each call of the API with values that fit its description, and with values that do not.

Each answer must be one that the description names. Whether a value is refused is left to test_calls.py: a description
cannot say which providers or paths a chain has, and query parameters that no call knows are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from chainviz.accounts.models import Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Chain
from chainviz.http_api.api import description
from tests.accounts.people import make_member
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db
EXAMPLES = 8
LEFT_OUT = [negative_data_rejection, positive_data_acceptance]
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(description())))


@pytest.fixture
def one_connection() -> Iterator[None]:
    """The transaction of the test stays open between requests, as with Django's own client."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def test_every_answer_is_as_described(team_mode: Team, one_connection: None) -> None:
    chain = make_chain(STORY)
    _, token = create_token(make_member(team_mode, "Ivo", Role.EDITOR), "test", ["read", "write", "export"], 30)
    SCHEMA.app = get_wsgi_application()
    operations = [found.ok() for found in SCHEMA.get_all_operations()]
    assert len(operations) > 15
    for operation in operations:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _ask(operation, mode, chain, {"Authorization": f"Bearer {token}", "Host": "localhost"})


def _ask(operation: Any, mode: GenerationMode, chain: Chain, headers: dict[str, str]) -> None:
    there = {"chain_id": chain.pk, "number": 1, "before": 1, "after": 1, "name": "repair", "one": chain.pk, "other": f"{chain.pk}.1"}

    @settings(max_examples=EXAMPLES, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), is_there=st.booleans())
    def ask(case: Any, is_there: bool) -> None:
        if is_there:
            case.path_parameters.update({name: there[name] for name in case.path_parameters if name in there})
        case.call_and_validate(headers=headers, excluded_checks=LEFT_OUT)

    ask()
