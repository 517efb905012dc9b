"""Web and Python write the same bytes: an inserted message has the spacing and the escapes of its neighbours (issue 7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

import chainviz
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations import operation_named
from chainviz.core.operations.execute import read_options
from chainviz.drafts import services
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version
from chainviz.store.transfer.exports import export
from tests.chains.making import make_chain_of
from tests.core.secrets.planted import FILES as SAMPLES
from tests.examples import share

pytestmark = pytest.mark.django_db
MESSAGES = [
    {"role": "user", "content": "Où est José?"},
    {"role": "assistant", "content": "Là-bas: ada@engine.dev"},
    {"role": "user", "content": "Merci"},
]
FILES = {
    "spaced": json.dumps({"by": "ada@engine.dev", "messages": MESSAGES}, ensure_ascii=False, indent=3).encode(),
    "escaped": json.dumps({"messages": MESSAGES}, separators=(",", ":")).encode(),
    "lines": b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in MESSAGES),
    "slot": json.dumps({"system": "Sé breve", "max_tokens": 9, "messages": MESSAGES}, ensure_ascii=False).encode(),
    **{f"{file.parent.name}": file.read_bytes() for file in SAMPLES},
}
OPERATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "append": ("edit", {"action": "append_human", "text": "Et après, José?"}),
    "insert first": ("edit", {"action": "insert", "where": "before", "path": "s1", "role": "human", "text": "Première"}),
    "repair": ("repair", {}),
    "mask": ("mask", {}),
    "redact": ("redact", {"policy": "reference"}),
    "convert": ("convert", {"to": "neutral"}),
}


PAIRS = [(file, change_name) for row, file in enumerate(FILES) for change_name in share(list(OPERATIONS), row)]


@pytest.mark.parametrize(("file", "change_name"), PAIRS)
def test_web_and_python_write_the_same_bytes(client: Client, file: str, change_name: str) -> None:
    client.get("/")
    name, options = OPERATIONS[change_name]
    chain = make_chain_of(FILES[file], f"{file}.json")
    if len(chainviz.load(FILES[file])) > 1:
        pytest.skip("a file of several chains is written whole by one and chain by chain by the other")
    result = chainviz.load(FILES[file])[0].apply(name, **options)
    by_api = result.chain.to_bytes() if result.chain.is_changed else None
    assert _by_web(chain, name, options) == by_api


def _by_web(chain: Chain, name: str, options: dict[str, Any]) -> bytes | None:
    """Return the result of the web page; None if nothing changes."""
    operation = operation_named(name)
    assert operation is not None
    target = target_of_version(chain, 1, chain.owner)
    try:
        draft = change(target, operation, read_options(operation, options))
    except Refused:
        return None
    return b"".join(export(services.save(draft, note="", by=chain.owner).snapshot))
