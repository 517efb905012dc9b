"""Reads a restored data folder through the product's pages and downloads, and prints what it found as JSON.

It imports nothing of chainviz: it knows addresses of pages, and a few columns of tables.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from django.db import connection
from django.test import Client, override_settings

TABLES = {
    "chains": "SELECT id, title, file_name, format, version, messages, sections, pairs, size FROM chains_chain ORDER BY id",
    "bin": "SELECT id FROM chains_chain WHERE trashed_at IS NOT NULL ORDER BY id",
    "versions": "SELECT c.id, v.number, v.note, s.operation FROM chains_chain c JOIN store_version v ON v.history_id = c.history"
    " JOIN store_snapshot s ON s.id = v.snapshot_id ORDER BY c.id, v.number",
    "drafts": "SELECT d.chain_id, d.id, d.base, d.saved_as, d.discarded_at IS NOT NULL, s.cursor,"
    " (SELECT count(*) FROM store_step WHERE draft_id = s.id)"
    " FROM drafts_draft d JOIN store_draft s ON s.id = d.key ORDER BY d.id",
    "audit": "SELECT chain_key, id, act, version FROM chains_auditentry ORDER BY id",
    "summaries": "SELECT r.chain_id, r.id, p.state, count(*) FROM drafts_summaryrun r"
    " JOIN drafts_summarypiece p ON p.run_id = r.id GROUP BY 1, 2, 3 ORDER BY 2, 3",
    "arrivals": "SELECT id, name, state FROM chains_arrival ORDER BY id",
    "jobs": "SELECT state, count(*) FROM jobs_job GROUP BY state ORDER BY state",
    "tombstones": "SELECT history, kind, digest FROM store_tombstone ORDER BY id",
}
PLAIN_FILES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CURSOR = 5
"""Column of `drafts`."""
JOB_PAGES = [
    *("/", "/secrets/", "/c/41/purge/", "/c/41/do/redact/", "/c/41/do/convert/", "/c/42/do/mask/", "/c/43/purge/"),
    *("/c/20/summaries/1/", "/c/30/summaries/2/", "/c/43/do/summarize/", "/c/43/summaries/5/"),
    *("/upload/30/", "/upload/34/", "/c/38/v/1/export", "/c/41/v/1/export"),
]
"""They show jobs, or look for some."""
LINEAGE = [
    # what a node was before an edit, a redaction, a mask or a summary, also through a conversion
    *("/c/20/v/7/replaced/s2.p1", "/c/20/v/9/replaced/s3.p1", "/c/20/earlier/s1.p3", "/c/20/earlier/s2.p1"),
    *("/c/17/earlier/s1.p1", "/c/22/earlier/s1.h.m55", "/c/23/earlier/s1.h.m1?draft=13", "/c/33/earlier/s1.p1"),
    *("/c/34/earlier/s1.h.m0", "/c/38/earlier/s1.p1", "/c/38/earlier/s4.p1"),
]
Rows = list[list[Any]]


def open_client() -> Client:
    """Its pages open although style sheets and scripts were never collected."""
    override_settings(STORAGES=PLAIN_FILES).enable()
    return Client(SERVER_NAME="localhost")


def tables() -> dict[str, Rows]:
    found = {}
    with connection.cursor() as cursor:
        for name, query in TABLES.items():
            cursor.execute(query)
            found[name] = [list(row) for row in cursor.fetchall()]
    return found


class Reader:
    def __init__(self) -> None:
        self.client = open_client()
        self.client.raise_request_exception = False
        self.tables = tables()
        self.failed: dict[str, int] = {}
        """By address: the status of a page that did not open."""

    def get(self, address: str) -> Any:
        answer = self.client.get(address, follow=True)
        if answer.status_code != 200:
            self.failed[address] = answer.status_code
        return answer

    def press(self, address: str, **fields: Any) -> None:
        answer = self.client.post(address, fields)
        if answer.status_code != 303:
            self.failed[address] = answer.status_code

    def open_pages(self) -> None:
        for address in [*self.pages(), *JOB_PAGES]:
            self.get(address)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE jobs_job SET function = 'gone.' || function")
        for address in JOB_PAGES:
            self.get(address)

    def pages(self) -> Iterator[str]:
        yield "/bin/"
        for chain, *_ in self.tables["chains"]:
            yield from (f"/c/{chain}/{page}/" for page in ("versions", "audit"))
        for chain, number, *_ in self.tables["versions"]:
            yield f"/c/{chain}/v/{number}/"
            if number > 1:
                yield f"/c/{chain}/diff/{number - 1}..{number}/"
        for chain, draft, _, saved_as, *_ in self.tables["drafts"]:
            if saved_as is None:
                yield f"/c/{chain}/d/{draft}/"
        for arrival, *_ in self.tables["arrivals"]:
            yield from (f"/upload/{arrival}/", f"/pick/{arrival}/")

    def exports(self) -> dict[str, str]:
        found = {}
        for chain, number, *_ in self.tables["versions"]:
            for scope in ("chain", "file", "original")[: 3 if number == 1 else 2]:
                address = f"/c/{chain}/v/{number}/export?scope={scope}"
                content = self.download(address)
                if content:
                    found[address] = content
        return found

    def download(self, address: str) -> str:
        """Returns size and digest, or nothing where the product offers no such download."""
        answer = self.client.get(address)
        if answer.status_code in (404, 422):
            return ""
        if answer.status_code != 200:
            self.failed[address] = answer.status_code
            return ""
        content = b"".join(answer)
        return f"{len(content)} bytes, sha256 {sha256(content).hexdigest()}"

    def audit(self) -> dict[str, str]:
        """Returns the digest of each record of a chain that still exists."""
        kept = {chain for chain, *_ in self.tables["chains"]}
        found = {}
        for chain, entry, *_ in self.tables["audit"]:
            if chain in kept:
                address = f"/c/{chain}/audit/{entry}/"
                self.get(f"{address}decisions")
                record = json.dumps(self.get(address).json()["record"], sort_keys=True)
                found[address] = sha256(record.encode()).hexdigest()
        return found

    def lineage(self) -> dict[str, list[str]]:
        """Returns the nodes that each of these pages links to."""
        return {address: sorted(set(re.findall(r'href="([^"]+/at/[^"#]+)', self.get(address).content.decode()))) for address in LINEAGE}

    def drafts(self) -> dict[str, list[str]]:
        """Returns the content of each unsaved draft before its first step and after every step. Restores discarded
        drafts; moves the cursors back to where they were."""
        found = {}
        for chain, draft, _, saved_as, is_discarded, cursor, steps in self.tables["drafts"]:
            if saved_as is not None:
                continue
            address = f"/c/{chain}/d/{draft}/"
            if is_discarded:
                self.press(f"{address}restore")
            self.repeat(f"{address}undo", cursor)
            found[address] = [self.download(f"{address}explore/export?scope=chain")]
            for _ in range(steps):
                self.press(f"{address}redo")
                found[address].append(self.download(f"{address}explore/export?scope=chain"))
            self.repeat(f"{address}undo", steps - cursor)
        return found

    def repeat(self, address: str, times: int) -> None:
        for _ in range(times):
            self.press(address)


def main() -> None:
    reader = Reader()
    reader.press("/bin/restore/", chain=[chain for (chain,) in reader.tables["bin"]])
    reader.open_pages()
    found = {
        "tables": reader.tables,
        "exports": reader.exports(),
        "audit": reader.audit(),
        "lineage": reader.lineage(),
        "drafts": reader.drafts(),
        "cursors": [[row[CURSOR] for row in each["drafts"]] for each in (reader.tables, tables())],
        "failed": reader.failed,
    }
    json.dump(found, sys.stdout)
