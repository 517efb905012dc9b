"""The columns of the library: which there are, how each is sorted, and which ones a person chose to see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F
from django.db.models.expressions import OrderBy

from chainviz.accounts.models import User
from chainviz.chains.library.models import ColumnChoice


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    label: str
    fields: tuple[str, ...]
    """Of a chain: it is sorted by the first, where that is equal by the next."""
    is_number: bool = True
    begins_rising: bool = False
    """Read from a to z; all others begin with the largest."""


COLUMNS = (
    Column("title", "Title", ("title",), False, True),
    Column("tools", "Tools", ("calls",), False),
    Column("model", "Model", ("model",), False, True),
    Column("format", "Format", ("format",), False, True),
    Column("sections", "Sections", ("sections",)),
    Column("pairs", "Pairs", ("pairs",)),
    Column("messages", "Messages", ("messages",)),
    Column("size", "Size", ("size",)),
    Column("tokens", "Tokens", ("tokens",)),
    Column("cost", "Cost", ("cost",)),
    Column("duration", "Duration", ("duration",)),
    Column("time", "Recorded", ("began_at",)),
    Column("errors", "Errors", ("tool_errors",)),
    Column("problems", "Structure", ("problems", "warnings"), False),
    Column("verdicts", "Verdicts", ("rejections",), False),
    Column("version", "Version", ("version",)),
    Column("changed", "Changed", ("changed_at",), False),
)
BY_NAME = {column.name: column for column in COLUMNS}
ALWAYS = ("title",)
FIRST_SHOWN = (
    "title", "tools", "model", "tokens", "cost", "duration", "problems", "verdicts", "version", "changed",
)  # fmt: skip
"""What a person sees who never chose."""


def chosen_columns(user: User) -> tuple[Column, ...]:
    choice = ColumnChoice.objects.filter(user=user).first()
    names = {*ALWAYS, *(choice.columns if choice else FIRST_SHOWN)}
    return tuple(column for column in COLUMNS if column.name in names)


def choose_columns(user: User, names: Iterable[str]) -> None:
    """Leaves out names of columns that do not exist. None where no name remains."""
    known = [name for name in BY_NAME if name in set(names)]
    if known:
        ColumnChoice.objects.update_or_create(user=user, defaults={"columns": known})
    else:
        ColumnChoice.objects.filter(user=user).delete()


def sorted_by(order: str) -> list[OrderBy]:
    """`order`: the name of a column, with a minus for a falling one. Chains without the value come last."""
    is_falling = order.startswith("-")
    fields = [F(field) for field in BY_NAME[order.removeprefix("-")].fields]
    return [field.desc(nulls_last=True) if is_falling else field.asc(nulls_last=True) for field in fields]
