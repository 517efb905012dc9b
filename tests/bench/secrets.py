"""Secrets: recall and false positives on the labelled sample, and how fast texts are searched."""

from __future__ import annotations

import random

from chainviz.core.secrets import RULES, scan_text
from tests.bench.measures import cost, table
from tests.core.secrets.labelled import read_sample, score


def report() -> None:
    found = score()
    heads = ["rules", "texts", "secrets", "found", "by the rule meant", "recall", "false positives"]
    row = [len(RULES), found.texts, found.secrets, found.found, found.named, f"{found.recall:.1%}", len(found.false)]
    table("Secrets in the labelled sample (made for this project by the author of the rules)", heads, [row])
    for text in (*(f"missed {each}" for each in found.missed), *(f"false {each}" for each in found.false)):
        print(f"  {text}")
    texts = _much_text(10_000_000)
    size = sum(map(len, texts)) / 1e6
    cpu = cost(lambda: [scan_text(text) for text in texts]).cpu
    table("Search for secrets (goal: 3 MB/s or more)", ["MB", "CPU s", "MB/s"], [[size, cpu, size / cpu]])


def _much_text(size: int) -> list[str]:
    """The sample's texts over and over between words, as long as tool results are."""
    chosen = random.Random(1)
    samples = [labelled.text for labelled in read_sample()]
    words = ["the", "test", "failed", "because", "None", "at", "line", "42", "of", "module.py,", "see", "path/to/file"]
    texts, made = [], 0
    while made < size:
        pieces = [" ".join(chosen.choices(words, k=600)), chosen.choice(samples), " ".join(chosen.choices(words, k=600))]
        texts.append("\n".join(pieces))
        made += len(texts[-1])
    return texts


if __name__ == "__main__":
    report()
