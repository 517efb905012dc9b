from __future__ import annotations

import pytest
from django.template import engines
from hypothesis import given
from hypothesis import strategies as some

from chainviz.web.formatting.numbers import byte_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"), (801, "801 B"), (999, "999 B"), (1000, "1.0 KB"), (2200, "2.2 KB"), (18_400, "18.4 KB"),
        (99_949, "99.9 KB"), (99_960, "100 KB"), (385_000, "385 KB"), (999_600, "1.00 MB"), (6_240_000, "6.24 MB"),
        (11_300_000, "11.3 MB"), (1_041_000_000, "1.04 GB"), (-5300, "−5.3 KB"),
    ],
)  # fmt: skip
def test_sizes_read_as_people_write_them(size: int, text: str) -> None:
    assert byte_text(size) == text


@given(some.integers(min_value=0, max_value=9 * 10**14))
def test_at_most_three_digits_and_right_within_five_percent(size: int) -> None:
    number, unit = byte_text(size).split()
    assert len(number.replace(".", "")) <= 3
    value = float(number) * {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
    assert value == pytest.approx(size, rel=0.05)


def test_tags_are_there_without_loading() -> None:
    text = engines["django"].from_string('{{ n|bytes }} {% icon "tool" %}').render({"n": 385_000})
    assert text.startswith("385 KB ")
    assert 'icons/icons.svg#tool"' in text
