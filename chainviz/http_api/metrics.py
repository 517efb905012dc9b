"""`/metrics`: gauges of the installation in the text form that Prometheus reads, for who knows the token of the settings.

All figures come from the database, so every process of an installation gives the same ones. They are counts, times and bytes;
none is about a person or a chain. Requests and their durations are in the log (`CHAINVIZ_LOG=json`).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from chainviz import __version__
from chainviz.accounts.models import Membership, Team
from chainviz.accounts.permissions import requires
from chainviz.chains.models import Arrival, Chain
from chainviz.jobs.models import Job
from chainviz.store.search.index import unindexed
from chainviz.webhooks.models import Delivery

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Gauge(NamedTuple):
    name: str
    help: str
    values: Mapping[str, float]
    """The values by their labels as text, "" for a value without labels."""


@requires("public", team_mode=True)
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics. Answers 404 if the settings have no token, and 401 for another token."""
    token = settings.CHAINVIZ.metrics_token
    if not token:
        raise Http404
    wanted, sent = f"Bearer {token}", request.headers.get("Authorization", "")
    if not hmac.compare_digest(wanted.encode(), sent.encode("utf-8", "surrogateescape")):
        answer = HttpResponse("The token of CHAINVIZ_METRICS_TOKEN is needed.\n", content_type="text/plain", status=401)
        answer["WWW-Authenticate"] = 'Bearer realm="chainviz metrics"'
        return answer
    return HttpResponse("".join(f"{line}\n" for gauge in gauges() for line in _lines(gauge)), content_type=CONTENT_TYPE)


def gauges() -> Iterator[Gauge]:
    yield Gauge("chainviz_info", "The version of chainviz.", {f'{{version="{__version__}"}}': 1})
    yield from _job_gauges()
    chains = Chain.objects.aggregate(count=Count("pk"), size=Sum("size"), binned=Count("pk", filter=~Q(trashed_at=None)))
    yield Gauge("chainviz_chains", "Chains, those in the bin included.", {"": chains["count"]})
    yield Gauge("chainviz_chains_in_bin", "Chains in the bin.", {"": chains["binned"]})
    yield Gauge("chainviz_content_bytes", "Bytes of content in the newest versions of all chains.", {"": chains["size"] or 0})
    yield Gauge("chainviz_database_bytes", "Bytes of the database.", {"": _database_bytes()})
    yield Gauge("chainviz_unindexed_chains", "Chains that the search of the library does not find yet.", {"": unindexed().count()})
    yield Gauge("chainviz_uploads", "Uploads that wait or were not dismissed.", {"": Arrival.objects.count()})
    yield Gauge("chainviz_teams", "Teams.", {"": Team.objects.count()})
    yield Gauge("chainviz_members", "Memberships of active people.", {"": Membership.objects.active().count()})
    waiting = Delivery.objects.aggregate(
        waiting=Count("pk", filter=Q(next_at__isnull=False)),
        failed=Count("pk", filter=Q(next_at=None, delivered_at=None)),
        delivered=Count("pk", filter=Q(delivered_at__isnull=False)),
    )
    by_state = {f'{{state="{state}"}}': count for state, count in waiting.items()}
    yield Gauge("chainviz_webhook_deliveries", "Deliveries of webhooks in the last 30 days by state.", by_state)


def _job_gauges() -> Iterator[Gauge]:
    counts = dict(Job.objects.order_by().values_list("state").annotate(Count("pk")))
    by_state = {f'{{state="{state}"}}': counts.get(state, 0) for state in Job.State.values}
    yield Gauge("chainviz_jobs", "Jobs that the database remembers by state.", by_state)
    now = timezone.now()
    queued = Job.objects.filter(Q(due_at=None) | Q(due_at__lte=now), state=Job.State.QUEUED)
    oldest = queued.aggregate(at=Min("created_at"))["at"]
    age = (now - oldest).total_seconds() if oldest else 0
    yield Gauge("chainviz_oldest_queued_job_seconds", "Age of the oldest job that is due and that no worker has taken.", {"": age})


def _database_bytes() -> int:
    question = "SELECT pg_database_size(current_database())"
    if connection.vendor == "sqlite":
        question = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(question)
        return int(cursor.fetchone()[0])


def _lines(gauge: Gauge) -> Iterator[str]:
    yield f"# HELP {gauge.name} {gauge.help}"
    yield f"# TYPE {gauge.name} gauge"
    yield from (f"{gauge.name}{labels} {value:g}" if isinstance(value, float) else f"{gauge.name}{labels} {value}"
                for labels, value in gauge.values.items())  # fmt: skip
