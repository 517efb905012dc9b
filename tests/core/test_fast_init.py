"""Classes with a fast `__init__` behave like the dataclasses that they are."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from chainviz.core.chain.fast_init import fast_init


@dataclass(frozen=True, slots=True)
class Slow:
    first: str
    second: int = 2
    origin: int = field(default=-1, compare=False, kw_only=True)
    kept: str = field(default="as it is", init=False)
    size: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.first))


@fast_init
@dataclass(frozen=True, slots=True)
class Quick(Slow):
    third: tuple[int, ...] = ()


def test_fields_defaults_and_derived_values_are_set() -> None:
    made = Quick("abc", third=(1,), origin=4)
    assert (made.first, made.second, made.third, made.origin, made.kept, made.size) == ("abc", 2, (1,), 4, "as it is", 3)
    assert made == Quick("abc", 2, (1,)) != Quick("abc", 3)
    assert replace(made, first="ab").size == 2
    assert repr(made) == "Quick(first='abc', second=2, origin=4, kept='as it is', third=(1,))"


def test_values_stay_and_arguments_are_checked() -> None:
    with pytest.raises(FrozenInstanceError):
        Quick("abc").first = "d"  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'first'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional argument"):
        Quick("abc", 2, (), 4)  # type: ignore[call-arg,misc]


def test_nothing_is_looked_up_by_name() -> None:
    """A generated `__init__` calls `object.__setattr__` for each field, which looks for it on the class."""
    assert "__setattr__" not in Quick.__init__.__code__.co_names
    assert "__setattr__" in Slow.__init__.__code__.co_names
