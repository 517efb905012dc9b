"""The labelled sample holds what it should, and the rules do not get worse on it (`make bench` prints the figures)."""

from __future__ import annotations

from functools import partial

from chainviz.core.secrets import RULES, scan_text
from tests.core.secrets.labelled import FILE, read_sample, score
from tests.cpu import cpu_seconds


def test_recall_and_false_positives() -> None:
    found = score()
    assert found.secrets >= 70 and found.texts - found.secrets >= 70
    assert found.recall >= 0.97, found.missed
    assert len(found.false) <= 1, found.false


def test_the_file_itself_holds_no_whole_provider_key() -> None:
    keys = [rule for rule in RULES if rule.group == "secret" and rule.value == 0]
    assert [each.rule.name for each in scan_text(FILE.read_text("utf-8"), keys)] == []
    assert all(text.text[start:end] for text in read_sample() for _, start, end in text.secrets)


def test_searching_is_linear_in_awkward_texts() -> None:
    for piece in ("host=", "password", "a@a.", "4111 ", "1.2.3.", "-----BEGIN RSA ", "://a:", "+1 (", "AA:", "eyJaaaaaaaaaa.", "curl -"):
        small, large = (cpu_seconds(partial(scan_text, piece * (size // len(piece)))) for size in (4_000, 32_000))
        assert large < 24 * max(small, 0.002), piece
