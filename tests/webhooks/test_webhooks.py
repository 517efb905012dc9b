"""A team's own server gets signed messages of its reviews, again until it takes them; no webhook reaches a private network."""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Thread
from typing import Any

import pytest
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.webhooks import sending
from chainviz.webhooks.models import Delivery, Webhook
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.review.conftest import Room, room  # noqa: F401
from tests.review.test_requests import save_version

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


class Receiver(ThreadingHTTPServer):
    """Answers with the statuses in turn, the last one for ever, and keeps what it got."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses = [204]
        self.messages: list[tuple[Any, bytes]] = []
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?team=1"

    @property
    def types(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.messages]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.messages.append((self.headers, self.rfile.read(int(self.headers["content-length"]))))
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Location", self.server.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def allowed(settings: Any, room: Room) -> Room:  # noqa: F811
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"webhook_networks": "127.0.0.0/8"})
    return room


def create(room: Room, url: str, events: list[str] | None = None) -> Any:  # noqa: F811
    return room.client(room.lin).post("/team/webhooks/", {"url": url, "events": events or Webhook.Event.values})


def is_genuine(secret: str, headers: Any, body: bytes) -> bool:
    """Written from the specification, apart from the product."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
    return headers["webhook-signature"] == f"v1,{wanted}"


def test_a_review_arrives_as_signed_messages(allowed: Room, receiver: Receiver) -> None:
    page = create(allowed, receiver.url)
    secret = re.findall(rb"whsec_[A-Za-z0-9+/=]+", page.content)[0].decode()
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    lin, ivo, mei = map(allowed.client, (allowed.lin, allowed.ivo, allowed.mei))
    chain = allowed.chain.pk
    save_version(allowed, allowed.ivo, "Be brief.")
    ivo.post(f"{allowed.page}request/", {"person": [allowed.mei.user_id], "purpose": "please"})
    mei.post(f"/api/v1/chains/{chain}/versions/1/threads", {"text": "A secret remark"}, content_type="application/json")
    mei.post(f"/api/v1/chains/{chain}/threads/1/resolved", {"resolved": True}, content_type="application/json")
    mei.post(f"/api/v1/chains/{chain}/threads/1/resolved", {"resolved": False}, content_type="application/json")
    mei.post(f"/api/v1/chains/{chain}/threads/1/resolved", {"resolved": True}, content_type="application/json")
    call = {"verdict": "approve", "summary": "fine"}
    given = mei.post(f"/api/v1/chains/{chain}/versions/2/verdicts", call, content_type="application/json")
    ivo.post(f"/api/v1/chains/{chain}/versions/2/sign-off")
    dismissal = {"reason": "again"}
    ivo.post(f"/api/v1/chains/{chain}/verdicts/{given.json()['id']}/dismiss", dismissal, content_type="application/json")
    run_waiting_jobs()

    kinds = "version.saved review.requested comment.added thread.resolved thread.reopened thread.resolved verdict.given"
    assert receiver.types == [*kinds.split(), "version.signed_off", "verdict.dismissed"]
    assert all(is_genuine(secret, *message) for message in receiver.messages)
    verdict = json.loads(receiver.messages[6][1])
    assert verdict["data"] == {
        "chain": chain, "person": "Mei", "version": 2, "verdict": "approve",
        "url": f"https://chainviz.example.org/c/{chain}/review/",
    }  # fmt: skip
    sent = b"".join(body for _, body in receiver.messages)
    assert not any(text in sent for text in (b"secret remark", b"Be brief", b"please", b"fine", allowed.chain.title.encode()))
    assert {each.state for each in Delivery.objects.all()} == {"delivered"}

    hook = f"/team/webhooks/{Webhook.objects.get().pk}/"
    assert secret.encode() not in lin.get(hook).content + lin.get("/team/webhooks/").content
    lin.post(hook, {"act": "secret"})
    lin.post(hook, {"act": "test"})
    run_waiting_jobs()
    assert receiver.types[-1] == "webhook.test"
    assert not is_genuine(secret, *receiver.messages[-1])
    assert b"HTTP 204" in lin.get(hook).content


def test_a_failed_delivery_is_repeated_after_growing_pauses(allowed: Room, receiver: Receiver) -> None:
    create(allowed, receiver.url)
    hook = Webhook.objects.get()
    receiver.statuses = [500, 302, 204]
    row = sending.queue(hook, "webhook.test", {})
    pauses = []
    for _ in range(3):
        run_waiting_jobs()
        waiting = Job.objects.filter(function="deliver-webhook", state="queued")
        pauses += [job.due_at - timezone.now() for job in waiting if job.due_at]
        waiting.update(due_at=timezone.now())
    row.refresh_from_db()
    assert (row.attempts, row.outcome, row.state) == (3, "HTTP 204", "delivered")
    assert [round(each / timedelta(minutes=5), 1) for each in pauses] == [0.0, 1.0]  # a redirect counts as a failure
    assert len({headers["webhook-id"] for headers, _ in receiver.messages}) == 1 and len(receiver.messages) == 3

    receiver.statuses = [503]
    row = sending.queue(hook, "webhook.test", {})
    for _ in range(len(sending.PAUSES) + 3):
        run_waiting_jobs()
        Job.objects.filter(state="queued").update(due_at=timezone.now())
    row.refresh_from_db()
    assert (row.attempts, row.state) == (len(sending.PAUSES) + 1, "failed")

    receiver.statuses = [410]
    sending.queue(hook, "webhook.test", {})
    run_waiting_jobs()
    hook.refresh_from_db()
    assert not hook.is_active and not Job.objects.filter(state="queued").exists()

    Delivery.objects.update(created_at=timezone.now() - timedelta(days=31))
    sending.forget_old()
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("https://127.0.0.1/", "private network"),
        ("http://localhost:8000/", "private network"),
        ("https://[::ffff:10.0.0.1]/", "private network"),
        ("https://[64:ff9b::7f00:1]/", "private network"),
        ("https://169.254.169.254/latest/meta-data", "private network"),
        ("https://0x7f000001/", "private network"),
        ("http://93.184.216.34/", "Use https"),
        ("https://user:pw@93.184.216.34/", "user name"),
        ("ftp://93.184.216.34/", "begins with https"),
        ("https://no.such.name.invalid/", "cannot be resolved"),
        ("https://[::1/", "not a web address"),
        ("https://93.184.216.34/a b", "Encode spaces"),
        ("https:///x", "begins with https"),
    ],
)
def test_an_address_that_must_not_be_reached_is_refused(room: Room, url: str, sentence: str) -> None:  # noqa: F811
    page = create(room, url)
    assert page.status_code == 422
    assert sentence in page.content.decode()
    assert not Webhook.objects.exists()
    if sentence != "not a web address":
        with pytest.raises(Refused):
            sending.post_signed(url, b"key", "msg_1", "{}")


def test_a_name_that_turns_private_later_is_not_reached(allowed: Room, receiver: Receiver, settings: Any) -> None:
    create(allowed, receiver.url)
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"webhook_networks": ""})
    row = sending.queue(Webhook.objects.get(), "webhook.test", {})
    run_waiting_jobs()
    row.refresh_from_db()
    assert "private network" in row.outcome and receiver.messages == []


def test_only_owners_set_webhooks_of_their_team(allowed: Room, receiver: Receiver) -> None:
    create(allowed, receiver.url, ["verdict.given"])
    hook = f"/team/webhooks/{Webhook.objects.get().pk}/"
    ivo = allowed.client(allowed.ivo)
    assert [ivo.get("/team/webhooks/").status_code, ivo.post(hook, {"act": "delete"}).status_code] == [403, 403]
    sending.announce(allowed.team.pk, Webhook.Event.VERSION_SAVED, "/", chain=1)
    sending.announce(allowed.team.pk + 1, Webhook.Event.VERDICT_GIVEN, "/", chain=1)
    assert not Delivery.objects.exists()
    lin = allowed.client(allowed.lin)
    lin.post(hook, {"act": "off"})
    sending.announce(allowed.team.pk, Webhook.Event.VERDICT_GIVEN, "/", chain=1)
    assert not Delivery.objects.exists()
    assert lin.post(hook, {"act": "nonsense"}).status_code == 303
    lin.post(hook, {"act": "delete"})
    assert not Webhook.objects.exists()


def test_the_signature_is_that_of_the_specification() -> None:
    """The example that the libraries of Standard Webhooks and Svix share."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    value = sending.sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("address", ["2002:7f00:1::", "224.0.0.1", "fe80::1", "100.64.0.1", "0.0.0.0", "fd00::1", "240.0.0.1"])
def test_addresses_that_lead_inside_are_not_public(address: str) -> None:
    assert not sending.is_public(ip_address(address))
    assert sending.is_public(ip_address("2606:2800:220:1:248:1893:25c8:1946"))
