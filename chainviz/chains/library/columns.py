"""The columns of the library: their sorting, and the choice of a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from chainviz.accounts.models import User
from chainviz.chains.library.models import ColumnChoice
from chainviz.chains.models import Chain
from chainviz.sessions_index.models import Session
from chainviz.store.prepared_query import PreparedQuery


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    label: str
    fields: tuple[str, ...]
    """The fields of a chain that the column reads. It is sorted by the first."""
    is_number: bool = True
    begins_rising: bool = False
    """Sorted from a to z at first. All other columns begin with the largest value."""
    of_session: str | None = None
    """The field of a session in the index, if its name differs; "" if sessions have none."""

    is_count: bool = False
    """Its cell shows the number in its field and needs no template. Such columns are next to each other."""

    @property
    def session_field(self) -> str:
        return self.fields[0] if self.of_session is None else self.of_session


COLUMNS = (
    Column("health", "Health", ("own_problems",), False),
    Column("title", "Title", ("title",), False, True),
    Column("tools", "Tools", ("calls",), False),
    Column("model", "Agent and model", ("model",), False, True),
    Column("format", "Format", ("format",), False, True),
    Column("sections", "Sections", ("sections",), of_session="", is_count=True),
    Column("pairs", "Pairs", ("pairs",), of_session="", is_count=True),
    Column("messages", "Messages", ("messages",), is_count=True),
    Column("errors", "Errors", ("tool_errors",), is_count=True),
    Column("size", "Size", ("size",)),
    Column("tokens", "Tokens", ("tokens",)),
    Column("cost", "Cost", ("cost",)),
    Column("duration", "Duration", ("duration",)),
    Column("time", "Recorded", ("began_at",)),
    Column("problems", "Structure", ("problems",), False, of_session="structure_problems"),
    Column("verdicts", "Verdicts", ("rejections",), False, of_session=""),
    Column("version", "Version", ("version",), of_session=""),
    Column("changed", "Changed", ("changed_at",), False),
)
BY_NAME = {column.name: column for column in COLUMNS}
ALWAYS = ("title",)
FIRST_SHOWN = ("health", "title", "model", "messages", "tokens", "cost", "duration", "changed")
"""The default columns."""


def counts(row: Chain | Session, shown: Collection[str]) -> list[str]:
    """Return the texts of the cells of a row that show a number, for the names of the shown columns."""
    fields = [_field(column, row) for column in COLUMNS if column.is_count and column.name in shown]
    numbers = [getattr(row, field) if field else None for field in fields]
    return ["–" if number is None else f"{number:,}" for number in numbers]


def _field(column: Column, row: Chain | Session) -> str:
    return column.session_field if isinstance(row, Session) else column.fields[0]


def chosen_columns(user: User) -> tuple[Column, ...]:
    choices = _choices(user.pk)
    names = {*ALWAYS, *(choices[0].columns if choices else FIRST_SHOWN)}
    return tuple(column for column in COLUMNS if column.name in names)


_choices = PreparedQuery(lambda person: ColumnChoice.objects.filter(user=person))


def choose_columns(user: User, names: Iterable[str]) -> None:
    """Return the chosen columns without unknown names; None if no name remains."""
    known = [name for name in BY_NAME if name in set(names)]
    if known:
        ColumnChoice.objects.update_or_create(user=user, defaults={"columns": known})
    else:
        ColumnChoice.objects.filter(user=user).delete()
