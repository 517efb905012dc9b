"""`/metrics` gives Prometheus the figures of an installation, and gives nothing to anybody else."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pydantic import ValidationError

from chainviz.accounts.models import Team
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job, start_job_later
from chainviz.settings import Environment
from chainviz.webhooks.models import Delivery, Webhook
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.chains.making import STORY, make_chain

pytestmark = [pytest.mark.database, pytest.mark.django_db]
TOKEN = "a-token-of-prometheus"
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="[^"\\\n]*"\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)')


def read(text: str) -> dict[str, float]:
    """Read the text form strictly: each family begins with its help and type, and its samples follow."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    lines = text.splitlines()
    name = ""
    for place, line in enumerate(lines):
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert lines[place + 1] == f"# TYPE {name} gauge"
        elif not line.startswith("#"):
            sample = SAMPLE.fullmatch(line)
            assert sample and sample[1] == name and f"{name}{sample[2] or ''}" not in found, line
            found[f"{name}{sample[2] or ''}"] = float(sample[3])
    return found


def scrape(token: str = TOKEN) -> Any:
    return Client().get("/metrics", headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def with_token(settings: Any, team_mode: Team) -> Team:  # noqa: F811
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"metrics_token": TOKEN})
    return team_mode


def test_the_figures_are_those_of_the_database(with_token: Team) -> None:
    before = read(scrape().content.decode())
    chain = make_chain(STORY)
    old = start_job("index-library", owner=None)
    Job.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    start_job_later(timezone.now() + timedelta(days=1), "deliver-webhook")
    Job.objects.filter(function="deliver-webhook").update(created_at=timezone.now() - timedelta(days=1))
    Job.objects.create(function="purge", args={}, created_at=timezone.now(), state=Job.State.FAILED)
    hook = Webhook.objects.create(team=with_token, url="https://example.org", events="version.saved")
    for number, facts in enumerate([{"next_at": timezone.now()}, {}, {"delivered_at": timezone.now()}]):
        Delivery.objects.create(webhook=hook, message_id=f"msg_{number}", event="x", body="{}", created_at=timezone.now(), **facts)
    answer = scrape()
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    now = read(answer.content.decode())
    changes = {name: now[name] - before[name] for name in now if now[name] != before[name]}
    assert 290 <= changes.pop("chainviz_oldest_queued_job_seconds") <= 900  # the one that is not due does not count
    changes.pop("chainviz_database_bytes", None)
    assert changes == {
        "chainviz_chains": 1,
        "chainviz_content_bytes": chain.size,
        "chainviz_unindexed_chains": 1,
        'chainviz_jobs{state="queued"}': 2,
        'chainviz_jobs{state="failed"}': 1,
        'chainviz_webhook_deliveries{state="waiting"}': 1,
        'chainviz_webhook_deliveries{state="failed"}': 1,
        'chainviz_webhook_deliveries{state="delivered"}': 1,
    }
    assert now["chainviz_database_bytes"] > 10_000
    assert chain.title.encode() not in answer.content


def test_nobody_reads_them_without_the_token(with_token: Team, settings: Any) -> None:
    refused = [scrape("another-token-entirely"), scrape("\xe9"), Client().get("/metrics"), scrape("")]
    assert {answer.status_code for answer in refused} == {401}
    assert all(b"chainviz_jobs" not in answer.content for answer in refused)
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"metrics_token": ""})
    assert [scrape("").status_code, scrape().status_code] == [404, 404]
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"metrics_token": TOKEN, "mode": "local"})
    assert scrape().status_code == 404
    with pytest.raises(ValidationError, match="at least 16 characters"):
        Environment(metrics_token="short")
