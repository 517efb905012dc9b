"""Where a value is in JSON text."""

from __future__ import annotations

from chainviz.core.documents.json.edit import raw_at


class Compared(str):
    """A text that counts how often it is compared."""

    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return super().__eq__(other)


def test_a_text_is_not_compared_with_an_equal_one_for_each_value() -> None:
    Compared.times = 0
    for text in [Compared('{"content": ["a", "b", "c"]}') for _ in range(2)]:
        assert [raw_at(text, ("content", index)) for index in range(3)] == ['"a"', '"b"', '"c"']
    assert not Compared.times
