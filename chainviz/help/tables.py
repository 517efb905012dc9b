"""Tables that the code knows, made from its registries. A page names one in a line that ends with `<!-- table: NAME -->`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from chainviz.cli import COMMANDS
from chainviz.core.chain.problems import DUPLICATE_FIXES, ORPHAN_FIXES
from chainviz.core.formats import FORMATS
from chainviz.core.formats.contract import Format
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.compact.compactors import COMPACTORS
from chainviz.core.operations.redact.policies import POLICIES
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import NO_REPAIR, VARIABLE, WITHOUT_FIX, Rule, rule_anchor


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one row, as Markdown. `anchor` is the fragment of an address that leads to the row; "" for none."""

    cells: tuple[str, ...]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Column titles and rows."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = (self.titles, ("---",) * len(self.titles), *(row.cells for row in self.rows))
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


TITLES = ("Rule", "Severity", "The API's sentence", "Models", "Since", "Fix", "Source", "Checked")
_PENDING_FIXES = ("answer-call", "call-to-text")
OF_STRUCTURE = {
    "call-id-shared": ("rename-calls",), "result-count": (*_PENDING_FIXES, *ORPHAN_FIXES), "result-missing": _PENDING_FIXES,
    "result-missing-at-end": _PENDING_FIXES, "result-repeated": DUPLICATE_FIXES, "result-without-call": ORPHAN_FIXES,
    "role-unknown": ("note-role", "drop-message"),
}  # fmt: skip
"""Fixes of the structure problems that these rules report."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
_ADDRESS = re.compile(r"[\w.-]+\.[a-z]{2,}/\S+")


def rule_table(name: str) -> Table:
    """Return the table of the rules of a provider, given by its name, in the order of their ids."""
    provider = get_provider(name)
    return Table(TITLES, tuple(_rows(provider)))


def _rows(provider: Provider) -> Iterator[Row]:
    before = ""
    for rule in sorted(provider.all_rules, key=lambda rule: rule.id):
        yield Row(_cells(rule), rule_anchor(provider.name, rule.id) if rule.id != before else "")
        before = rule.id


def _cells(rule: Rule) -> tuple[str, ...]:
    source = f"[{_plain(rule.source)}](https://{rule.source})" if _ADDRESS.fullmatch(rule.source) else _plain(rule.source)
    severity = "not checked" if rule.severity == "unchecked" else rule.severity
    return f"`{rule.id}`", severity, _sentence(rule), _plain(rule.models), rule.since, _fix(rule), source, rule.checked


def _sentence(rule: Rule) -> str:
    """Return the sentence with its variable parts in italics, then what limits it."""
    words = re.split(f"({VARIABLE.pattern})", rule.says)
    said = "".join(f"*{word[1:-1]}*" if VARIABLE.fullmatch(word) else _plain(word) for word in words)
    note = _plain(rule.note[:1].upper() + rule.note[1:]) + "." if rule.note else ""
    return " ".join(filter(None, (f"“{said}”" if said else "", note)))


def _fix(rule: Rule) -> str:
    fixes = rule.fixes or OF_STRUCTURE.get(rule.id, ())
    labels = "; ".join(_plain(CHOICES[fix][0]) for fix in fixes)
    return labels or f"None. {_plain(WITHOUT_FIX.get(rule.id, NO_REPAIR))}"


def _plain(text: str) -> str:
    """Return Markdown that shows a text as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def _formats() -> Iterator[Table]:
    titles = ("Format", "Name", "Can be edited and converted to", "New document", "Tested with")
    yield Table(titles, tuple(Row(_format_cells(each)) for each in FORMATS))


def _format_cells(format: Format) -> tuple[str, ...]:
    writes = "yes" if format.writes else "no, exported unchanged"
    return format.label, f"`{format.name}`", writes, _new_document(format), format.tested_with


def _new_document(format: Format) -> str:
    if not format.writes:
        return "none"
    if format.lines:
        return "JSON Lines" if format.blocks_at else "text"
    return f"JSON, messages under `{format.list_key}`" if format.list_key else "a JSON list"


def _providers() -> Iterator[Table]:
    yield Table(("API", "Name"), tuple(Row((each.label, f"`{each.name}`")) for each in PROVIDERS))


def _rules() -> Iterator[str | Table]:
    for provider in PROVIDERS:
        yield f"\n## {provider.label}\n\nName: `{provider.name}`\n"
        yield rule_table(provider.name)


def _commands() -> Iterator[Table]:
    rows = ((f"`chainviz {name}`", f"{line[0].upper()}{line[1:]}.") for name, (_, line) in COMMANDS.items())
    yield Table(("Command", "What it does"), tuple(map(Row, rows)))


def _operations() -> Iterator[Table]:
    rows = ((f"`{each.name}`", each.label, _options(each.Options.model_fields)) for each in OPERATIONS)
    yield Table(("Name", "Label", "Options"), tuple(map(Row, rows)))


def _options(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _policies() -> Iterator[Table]:
    yield Table(("Policy", "Name"), tuple(Row((each.label, f"`{each.name}`")) for each in POLICIES))


def _strategies() -> Iterator[Table]:
    rows = (
        (each.label, f"`{each.type}`", ", ".join(f"`{field.name}`" for field in fields(cast(Any, each))) or "none") for each in COMPACTORS
    )
    yield Table(("Part", "`type`", "Other members"), tuple(map(Row, rows)))


def _settings() -> Iterator[Table]:
    from chainviz.settings import Environment  # needs a library that chainviz-cli leaves out

    rows = (
        (f"`CHAINVIZ_{name.upper()}`", _default(field.get_default(), field.json_schema_extra), field.description or "")
        for name, field in Environment.model_fields.items()
    )
    yield Table(("Name", "Default", "What it does"), tuple(map(Row, rows)))


def _default(value: object, extra: object) -> str:
    """Return the default, or a sentence on it if it differs between machines."""
    return str(extra["default_text"]) if isinstance(extra, dict) else str(value)


TABLES: Mapping[str, Callable[[], Iterator[str | Table]]] = {
    "formats": _formats,
    "providers": _providers,
    "rules": _rules,
    "commands": _commands,
    "operations": _operations,
    "policies": _policies,
    "strategies": _strategies,
    "settings": _settings,
}
