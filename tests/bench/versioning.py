"""What 100 versions cost on disk: each edits one message and appends two. The floor is the bytes that changed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from chainviz.store.history.steps import NewStep
from tests.bench.measures import cost, table
from tests.bench.uploading import upload

VERSIONS = 100
TABLES = ("run", "message", "body", "snapshot", "version")
"""What a version adds; outlines are a cache and drafts go."""


def report(file: Path) -> None:
    from django.test import Client

    chain = upload(Client(HTTP_HOST="127.0.0.1"), file)
    changed = 0
    before = _stored()
    made = cost(lambda: [_next_version(chain, number) for number in range(VERSIONS)])
    changed = sum(made.result)
    grown = _stored() - before
    rows = [[VERSIONS, changed / VERSIONS, grown / VERSIONS, (grown / VERSIONS - 500) / (changed / VERSIONS), made.cpu / VERSIONS * 1000]]
    heads = ["versions", "changed B a version", "stored B a version", "(stored − 500) / changed", "CPU ms a version"]
    table("Versions of a 10,000-message chain, 1 edit + 2 appended each (goal: 1.5 × changed + 500 B)", heads, rows)


def _next_version(chain: Any, number: int) -> int:
    """Bytes of the messages it changed."""
    from chainviz.core.chain.chain import Splice
    from chainviz.core.chain.messages import AI, HUMAN, Message, Text
    from chainviz.store.content.chain import StoredChain
    from chainviz.store.history.drafts import add_step, head_of, save, start_draft
    from chainviz.store.models import History

    rng = random.Random(number)
    words = " ".join(str(rng.getrandbits(40)) for _ in range(80))
    head = head_of(History(pk=chain.history))
    stored = StoredChain(head.snapshot)
    place = rng.randrange(len(stored) // 200) * 200
    edited = Message(HUMAN, (Text(words, origin=0),), source=stored[place].source)
    added = (Message(HUMAN, (Text(words),)), Message(AI, (Text(words[::-1]),)))
    draft = start_draft(head, author="bench")
    add_step(draft, NewStep((Splice(place, 1, (edited,)), Splice(len(stored), 0, added)), "edit"))
    save(draft, author="bench")
    return edited.size + sum(message.size for message in added)


def _stored() -> int:
    """Bytes of all columns of what versions are made of."""
    from django.db import connection

    total = 0
    with connection.cursor() as cursor:
        for name in TABLES:
            columns = connection.introspection.get_table_description(cursor, f"store_{name}")
            lengths = [f'coalesce(length(CAST("{column.name}" AS BLOB)), 0)' for column in columns]
            cursor.execute(f"SELECT sum({' + '.join(lengths)}) FROM store_{name}")
            total += cursor.fetchone()[0] or 0
    return total
