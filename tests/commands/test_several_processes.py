"""Two servers and two workers of a team share one PostgreSQL database and one data folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from django.conf import settings

from tests import ROOT
from tests.chains.files import HELLO
from tests.commands.test_serve import environment, free_port
from tests.old_data.data_folder import DataFolder, new_data_folder
from tests.waiting import PATIENCE, wait_for

pytestmark = [pytest.mark.database, pytest.mark.skipif(not settings.POSTGRESQL, reason="several servers need PostgreSQL")]
EMAIL, PASSWORD = "lin@example.org", "a drill for every wall"
LONG = "x" * 9_000_000
"""So much that a job imports it."""


class Site:
    """An installation: its processes and its settings."""

    def __init__(self, folder: DataFolder) -> None:
        self.settings = environment(
            folder.path, CHAINVIZ_DATABASE_URL=folder.database_url, CHAINVIZ_MODE="team",
            CHAINVIZ_BASE_URL="http://localhost", CHAINVIZ_LOG="json",
        )  # fmt: skip
        self.running: list[subprocess.Popen[str]] = []
        self.ports = [free_port(), free_port()]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "chainviz", *arguments], cwd=ROOT, env=self.settings, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.running.append(process)
        return process

    def sign_in(self, port: int) -> httpx2.Client:
        client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, follow_redirects=True)
        page = client.get("/sign-in/")
        client.post("/sign-in/", data={"email": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": token(page)})
        return client


def token(page: httpx2.Response) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert found, page.text
    return found[1]


def upload(client: httpx2.Client, name: str) -> None:
    content = json.dumps([{"role": "user", "content": f"{name} {LONG}"}, *HELLO[1:]]).encode()
    fields = {"csrfmiddlewaretoken": token(client.get("/"))}
    assert client.post("/upload/", data=fields, files={"file": (name, content)}).status_code == 200


def chains(client: httpx2.Client) -> set[str]:
    """Names of those that were uploaded and open; the first request begins with the name, and so does the title."""
    listed = re.findall(r'<a [^>]*href="(/c/\d+/)"[^>]*>\s*(run-\d)', client.get("/").text)
    return {title for address, title in listed if client.get(address).status_code == 200}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Started all at once: the tables are made once."""
    with new_data_folder(tmp_path, settings.POSTGRESQL_URL) as folder:
        site = Site(folder)
        processes = [site.start("serve", "--without-jobs", "--port", str(port)) for port in site.ports]
        processes += [site.start("worker"), site.start("worker")]
        for process in processes:
            assert process.stdout is not None
            while "is ready" not in (line := process.stdout.readline()):
                assert line, process.poll()
        subprocess.run(
            [sys.executable, "-m", "chainviz", "createowner", EMAIL], cwd=ROOT, env=site.settings, input=f"{PASSWORD}\n",
            text=True, check=True, capture_output=True,
        )  # fmt: skip
        try:
            yield site
        finally:
            for process in site.running:
                process.kill()
                process.wait()


def test_they_work_as_one(site: Site) -> None:
    first, second = (site.sign_in(port) for port in site.ports)
    for number, client in enumerate((first, second) * 2):
        upload(client, f"run-{number}.json")
    wait_for(lambda: chains(first) == chains(second) == {f"run-{number}" for number in range(4)}, tell=lambda: chains(first))

    gone_server, _, gone_worker, _ = site.running[:4]
    for process in (gone_server, gone_worker):
        process.kill()
        process.wait()
    upload(second, "run-4.json")
    wait_for(lambda: "run-4" in chains(second))
    assert second.get("/readyz").text == "ok\n"
    checked = subprocess.run([sys.executable, "-m", "chainviz", "fsck"], cwd=ROOT, env=site.settings, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
