"""How page, node, edit, diff, find and export grow with the chain: CPU, statements, bytes and rows, and their slopes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bench.measures import cost, median_cpu, slope, table
from tests.bench.uploading import upload


def report(files: dict[int, Path]) -> dict[int, int]:
    """Primary keys of the chains, by size."""
    from django.db import connection, reset_queries
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from chainviz.jobs.worker import run_waiting_jobs
    from chainviz.store.history.drafts import save

    client = Client(HTTP_HOST="127.0.0.1")
    chains = {size: upload(client, file) for size, file in files.items()}
    works: dict[str, Any] = {
        "redact page": lambda chain: client.get(f"/c/{chain.pk}/do/redact/?v=1", follow=True),
        "repair page": lambda chain: client.get(f"/c/{chain.pk}/do/repair/?v=1", follow=True),
        "page": lambda chain: client.get(f"/c/{chain.pk}/v/1/"),
        "page at the last section": lambda chain: client.get(f"/c/{chain.pk}/v/1/at/s{chain.sections}"),
        "rows (one window)": lambda chain: client.get(f"/c/{chain.pk}/v/1/rows?from=s{chain.sections // 2}&dir=down"),
        "open a node": lambda chain: client.get(f"/c/{chain.pk}/v/1/node/s{chain.sections // 2}.p1"),
        "edit (a step of a draft)": edit,
        "diff of one edit": lambda chain: client.get(f"/c/{chain.pk}/diff/1..2/"),
    }
    rows = []
    for chain in chains.values():
        save(edit(chain), author="bench")
        for name in ("redact page", "repair page"):
            works[name](chain)
    run_waiting_jobs()  # of a long chain a job reads what these pages show first
    for name, work in works.items():
        cpus, statements, sent = [], [], []
        for chain in chains.values():
            cpus.append(median_cpu(lambda work=work, chain=chain: work(chain)))
            reset_queries()
            with CaptureQueriesContext(connection) as caught:
                answer = work(chain)
            if hasattr(answer, "status_code"):
                assert answer.status_code == 200, (name, answer.status_code)
            statements.append(len(caught))
            sent.append(len(getattr(answer, "content", b"")))
        sizes = list(files)
        each = "/".join(map(str, statements)), "/".join(f"{n / 1000:.0f}" for n in sent)
        rows.append([name, *[f"{cpu * 1000:.1f}" for cpu in cpus], slope(sizes, cpus), *each])
    heads = ["what", *[f"{size:,}: CPU ms" for size in files], "slope", "statements", "kB sent"]
    table("Growth of what a person does (goal: slope ≤ 0.1)", heads, rows)
    _whole_chain(files, chains)
    return {size: chain.pk for size, chain in chains.items()}


def _whole_chain(files: dict[int, Path], chains: dict[int, Any]) -> None:
    from django.test import Client

    from chainviz.store.transfer.exports import export

    client = Client(HTTP_HOST="127.0.0.1")
    works = {
        "export": lambda chain: sum(map(len, export(_head(chain).snapshot))),
        "find, absent": lambda chain: client.get(f"/c/{chain.pk}/v/1/find?q=zzz-absent"),
        "find, a key of the file": lambda chain: client.get(f"/c/{chain.pk}/v/1/find?q=content"),
        "find, frequent": lambda chain: client.get(f"/c/{chain.pk}/v/1/find?q=ledger"),
    }
    rows = []
    for name, work in works.items():
        costs = [cost(lambda work=work, chain=chain: work(chain)) for chain in chains.values()]
        rows.append([name, *[f"{c.wall * 1000:.0f}" for c in costs], slope(list(files), [c.cpu for c in costs])])
    heads = ["what", *[f"{size:,}: ms" for size in files], "slope"]
    table("Growth of what reads the whole chain (goal: slope ≤ 1.05; find in 111 MB ≤ 500 ms)", heads, rows)


def edit(chain: Any) -> Any:
    """A draft with one step in the middle of the chain, as the edit form makes it."""
    from chainviz.core.operations.contract import Context
    from chainviz.core.operations.edit import Edit, EditOptions
    from chainviz.store.content.chain import chain_to_edit
    from chainviz.store.history.drafts import add_step, current, start_draft
    from chainviz.store.history.steps import NewStep

    draft = start_draft(_head(chain), author="bench")
    options = EditOptions(path=f"s{max(1, chain.sections // 2)}.h.m0", text="Another question, typed by hand.")
    changes = Edit().run(chain_to_edit(current(draft)), options, Context()).changes
    add_step(draft, NewStep(changes, "edit", options.model_dump()))
    return draft


def _head(chain: Any) -> Any:
    from chainviz.store.history.drafts import head_of
    from chainviz.store.models import History

    return head_of(History(pk=chain.history))
