"""The columns of the library: which there are, how each is sorted, and which ones a person chose to see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chainviz.accounts.models import User
from chainviz.chains.library.models import ColumnChoice


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    label: str
    fields: tuple[str, ...]
    """Of a chain: it is sorted by the first."""
    is_number: bool = True
    begins_rising: bool = False
    """Read from a to z; all others begin with the largest."""
    of_session: str | None = None
    """The field of a session that is not read yet as a chain, where it has another name; "" where it has none."""

    @property
    def session_field(self) -> str:
        return self.fields[0] if self.of_session is None else self.of_session


COLUMNS = (
    Column("health", "Health", ("own_problems",), False),
    Column("title", "Title", ("title",), False, True),
    Column("tools", "Tools", ("calls",), False),
    Column("model", "Agent and model", ("model",), False, True),
    Column("format", "Format", ("format",), False, True),
    Column("sections", "Sections", ("sections",), of_session=""),
    Column("pairs", "Pairs", ("pairs",), of_session=""),
    Column("messages", "Messages", ("messages",)),
    Column("size", "Size", ("size",)),
    Column("tokens", "Tokens", ("tokens",)),
    Column("cost", "Cost", ("cost",)),
    Column("duration", "Duration", ("duration",)),
    Column("time", "Recorded", ("began_at",)),
    Column("errors", "Errors", ("tool_errors",)),
    Column("problems", "Structure", ("problems",), False, of_session="structure_problems"),
    Column("verdicts", "Verdicts", ("rejections",), False, of_session=""),
    Column("version", "Version", ("version",), of_session=""),
    Column("changed", "Changed", ("changed_at",), False),
)
BY_NAME = {column.name: column for column in COLUMNS}
ALWAYS = ("title",)
FIRST_SHOWN = ("health", "title", "model", "messages", "tokens", "cost", "duration", "changed")
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
