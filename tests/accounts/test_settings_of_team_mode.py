"""Settings of team mode, each tried in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from chainviz.web.middleware import client_of
from tests import ROOT

SITE = {"CHAINVIZ_MODE": "team", "CHAINVIZ_BASE_URL": "https://chainviz.example.org"}


def run(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CHAINVIZ_", "DJANGO_"))}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**environment, "CHAINVIZ_DATA": str(folder), **settings}, capture_output=True, text=True)


def test_djangos_check_for_deployment_is_clean(tmp_path: Path) -> None:
    ended = run(tmp_path, "check", "--deploy", "--fail-level", "DEBUG", **SITE, CHAINVIZ_TRUSTED_PROXIES="10.0.0.0/8")
    assert ended.returncode == 0, ended.stderr
    assert "no issues" in ended.stdout


def test_the_check_for_deployment_notices_a_site_without_https(tmp_path: Path) -> None:
    site = {**SITE, "CHAINVIZ_BASE_URL": "http://chainviz.example.org"}
    ended = run(tmp_path, "check", "--deploy", "--fail-level", "DEBUG", **site)
    assert ended.returncode == 1
    assert "security.W008" in ended.stderr


def test_plain_requests_are_sent_to_the_named_host(tmp_path: Path) -> None:
    ended = run(tmp_path, "diffsettings", **SITE)
    assert "SECURE_SSL_HOST = 'chainviz.example.org'" in ended.stdout


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"CHAINVIZ_BASE_URL": ""}, "team mode needs the address that people open"),
        ({"CHAINVIZ_BASE_URL": "chainviz.example.org"}, "team mode needs the address that people open"),
        ({"CHAINVIZ_TRUSTED_PROXIES": "proxy"}, "is not an IP address or network"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(tmp_path: Path, wrong: dict[str, str], reason: str) -> None:
    ended = run(tmp_path, "check", **{**SITE, **wrong})
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert reason in ended.stderr


@pytest.fixture
def proxies(settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"trusted_proxies": "10.0.0.0/8"})


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [("1.2.3.4", "1.2.3.4"), ("9.9.9.9, 1.2.3.4", "1.2.3.4"), ("1.2.3.4, 10.0.0.7", "1.2.3.4"), ("10.0.0.7", "10.0.0.7")],
)
def test_the_client_is_the_last_address_no_proxy_has(proxies: None, forwarded: str, client: str) -> None:
    assert client_of(forwarded) == client


@pytest.mark.django_db
@pytest.mark.parametrize(("peer", "is_secure", "address"), [("10.0.0.1", True, "1.2.3.4"), ("8.8.8.8", False, "8.8.8.8")])
def test_only_a_trusted_proxy_is_believed(proxies: None, settings: Any, client: Client, peer: str, is_secure: bool, address: str) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    headers = {"x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https"}
    request = client.get("/healthz", headers=headers, REMOTE_ADDR=peer).wsgi_request
    assert (request.is_secure(), request.META["REMOTE_ADDR"]) == (is_secure, address)


@pytest.mark.django_db
def test_health_and_readiness(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [client.get(page).status_code for page in ("/healthz", "/readyz")] == [200, 200]
    plan = SimpleNamespace(loader=SimpleNamespace(graph=SimpleNamespace(leaf_nodes=list)), migration_plan=lambda nodes: ["0009"])
    monkeypatch.setattr("chainviz.web.errors.MigrationExecutor", lambda connection: plan)
    assert [client.get(page).status_code for page in ("/healthz", "/readyz")] == [200, 503]
