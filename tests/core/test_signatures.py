"""Signatures of reasoning that break off, as a cut-off write leaves them."""

from __future__ import annotations

from base64 import b64encode

import pytest

from chainviz.core.chain.reasoning import breaks_off

WHOLE = b64encode(b"\x12\xa4\x01" + bytes(164)).decode()


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (WHOLE, False), (WHOLE[:24], True), (WHOLE[:200], True), ("EqQBCkYIAxgCKkBabc12345=", True),
        ("sig_1", False), ("", False), ("EgE=", False), ("AAAA", False),
    ],
)  # fmt: skip
def test_a_signature_that_is_shorter_than_it_says_breaks_off(signature: str, expected: bool) -> None:
    assert breaks_off(signature) is expected
