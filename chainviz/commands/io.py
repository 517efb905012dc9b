"""Input and output of the commands: their files, the options of operations, and printed text."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from chainviz.api.chain import Chain, chains_of
from chainviz.api.file import ChainFile, open_file
from chainviz.core.backup_names import is_backup
from chainviz.core.counts import count_text
from chainviz.core.documents.packed_files import plain_name
from chainviz.core.errors import ChainError, DocumentError, OptionsError, visible
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.operations.contract import Operation, Options

# The files of a command line: named ones and those in folders, read one by one, and the destination of each result.


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    """A path, or - for standard input."""
    place: str
    """The path of the result in the output folder, if there are several inputs."""


def add_files(parser: argparse.ArgumentParser, *, may_lack: bool = False) -> None:
    """Add arguments for files. `may_lack` means that the command also runs without files."""
    parser.add_argument(
        "files", metavar="FILE", nargs="*" if may_lack else "+", help="transcripts, or folders of transcripts; - reads standard input"
    )


def add_file(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(name, metavar=name.upper(), help="a transcript: JSON or JSON Lines; - reads standard input")


def add_format(parser: argparse.ArgumentParser) -> None:
    choices = " ".join(_choices(format) for format in FORMATS if format.choices)
    words = f"the file's format instead of the detected one; `chainviz help formats` lists the names. {choices}"
    parser.add_argument("--format", metavar="NAME", help=words)
    parser.add_argument("--salvage", action="store_true", help="read the complete messages of a file that is cut off")


def _choices(format: Format) -> str:
    """Return a sentence about the choices of a format and their spelling."""
    unusual = [(value, f"{choice.label} {label}".lower()) for choice in format.choices for value, label in choice.values[1:]]
    said = ", ".join(f"{value} ({label})" for value, label in unusual)
    example = ",".join(value for value, _ in unusual)
    return f"How {format.name} is read can be chosen after a colon, as in {format.name}:{example}: {said}."


def add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chain", type=int, metavar="N", help="only the N-th chain of the file, counted from 1")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON Lines, one object per chain")


def each_file(arguments: argparse.Namespace, work: Callable[[Input, ChainFile], int]) -> int:
    """Call `work` for every file, and return the highest exit code. A file that cannot be read is reported on standard error and does
    not stop the others."""
    if arguments.format:
        get_format(arguments.format)
    code = 0
    for each in inputs(arguments.files):
        try:
            with opened(each.name, arguments) as file:
                code = max(code, work(each, file))
        except ChainError as error:
            complain(error)
            code = 2
    return code


def inputs(names: Iterable[str]) -> Iterator[Input]:
    """Yield the named files, and all files below named folders except hidden ones and backups of sessions."""
    for name in names:
        places = sorted(Path(name).rglob("*")) if name != "-" else []
        below = [path for path in places if path.is_file() and not _is_left_out(path.relative_to(name))]
        if below:
            yield from (Input(str(path), plain_name(str(path.relative_to(name)))) for path in below)
        else:
            yield Input(name, "standard-input" if name == "-" else plain_name(Path(name).name))


def _is_left_out(place: Path) -> bool:
    return any(part.startswith(".") or is_backup(part) for part in place.parts)


@contextmanager
def opened(name: str, arguments: argparse.Namespace) -> Iterator[ChainFile]:
    """Open the chains of a file. Raises DocumentError, naming the file, if it cannot be read."""
    if name != "-" and Path(name).is_dir():
        raise DocumentError(f"{name} holds no files.")
    origin = sys.stdin.buffer.read() if name == "-" else Path(name)
    try:
        file = open_file(origin, name, arguments.format or None, salvage=arguments.salvage)
    except DocumentError as error:
        hint = " Add --salvage to keep them." if error.salvage else ""
        raise DocumentError(f"{str(error).removeprefix('-: ')}{hint}", error.fault) from None
    with file.source:
        yield file


def chosen(file: ChainFile, number: int | None) -> Sequence[Chain]:
    """Return all chains of the file, or the one with this number."""
    chains = chains_of(file)
    if number is None:
        return chains
    if not 1 <= number <= len(chains):
        raise OptionsError(f"{file.name} holds {count_text(len(chains), 'chain')}; there is no chain {number}.")
    return [chains[number - 1]]


class Outputs:
    """The destination of results: a file for one input, a folder for several."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._out: str = arguments.out or ""
        self._is_folder = len(arguments.files) > 1 or any(Path(name).is_dir() for name in arguments.files)
        self._taken: dict[str, str] = {}
        """The name of the input of each written file."""
        if arguments.json and self._out == "-":
            raise OptionsError("--json and --out - would both write to standard output; choose a file for one of them.")
        if self._is_folder and self._out == "-":
            raise OptionsError("Several files cannot all be written to standard output; name a folder with --out.")
        if self._is_folder and Path(self._out).is_file():
            raise OptionsError(f"{self._out} is a file; several files are written to a folder.")

    def path(self, each: Input) -> str:
        """Return the path of a result. Raises OptionsError if another input was already written to it."""
        if not self._is_folder and (self._out in ("", "-") or not Path(self._out).is_dir()):
            return self._out
        if not self._out:
            return ""
        path = Path(self._out, each.place)
        before = self._taken.setdefault(str(path), each.name)
        if before != each.name:
            raise OptionsError(f"{each.name} is not written: {path} is what {before} became.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DocumentError(f"{path} cannot be written: {error.strerror or error}.") from None
        return str(path)


# The options of an operation on a command line: their description in `--help`, and their values from `--set`.


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_LIMITS = {Ge: "at least {0.ge}", Gt: "more than {0.gt}", Le: "at most {0.le}", Lt: "less than {0.lt}"}


def described_options(operation: Operation[Any]) -> Iterator[str]:
    """Yield each option with its values, its default and its meaning."""
    yield "options, each given as --set KEY=VALUE; for JSON, KEY=@FILE reads the value from a file:"
    for name, field in operation.Options.model_fields.items():
        yield f"  {name}: {_values(field)}; default {_default(field.default)}"
        title, meaning = field.title or "", field.description or ""
        yield f"      {f'{title}: ' if title and meaning else title}{meaning}"


def option_values(model: type[Options], settings: Sequence[str]) -> dict[str, Any]:
    """Return the values by option name. Raises OptionsError for arguments that are not `key=value`, or for a file that cannot be read."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise OptionsError(f"--set needs key=value, not “{setting[:40]}”.")
        field = model.model_fields.get(key)
        if field is not None and _is_long(field):
            value = value_of(key, value)
        values[key] = _words(value) if field is not None and _is_list(field.annotation) else value
    return values


def value_of(key: str, given: str) -> str:
    """Return the given text, or for @FILE the text of a file. Raises OptionsError if it cannot be read."""
    if not given.startswith("@"):
        return given
    name = given[1:]
    try:
        return Path(name).read_text("utf-8")
    except OSError as error:
        raise OptionsError(f"{key}: {name} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise OptionsError(f"{key}: {name} is not UTF-8 text.") from None


def _values(field: FieldInfo) -> str:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    choices = extra.get("choices")
    if isinstance(choices, dict) and not _is_list(field.annotation):
        return f"one of {', '.join(filter(None, choices))}"
    kind = "JSON or lines of text" if _is_long(field) else _kind(field.annotation)
    limits = [words.format(each) for each in field.metadata for type, words in _LIMITS.items() if isinstance(each, type)]
    unit = [str(extra["unit"])] if "unit" in extra else []
    return ", ".join((kind, *limits, *unit))


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    if _is_list(annotation):
        inner = [each for each in get_args(annotation) if each is not Ellipsis]
        return f"a list with commas, {_kind(inner[0]).removeprefix('a ')} each" if inner else "a list with commas"
    known = [_KINDS[each] for each in (annotation, *get_args(annotation)) if each in _KINDS]
    return known[0] if known else "text"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    words = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return words or "empty"


def _is_long(field: FieldInfo) -> bool:
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get("long"))


def _is_list(annotation: Any) -> bool:
    if get_origin(annotation) in (tuple, list, set, frozenset):
        return True
    return get_origin(annotation) is not Literal and any(_is_list(inner) for inner in get_args(annotation))


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


# Printed text. Control characters of transcripts and file names are shown as marks, so that none affects the terminal. Exported content is
# written by `chainviz.api.writing` instead, byte for byte.


def tell(lines: Iterable[str]) -> None:
    """Print lines. If the reader closes the pipe (`chainviz show … | head`), the command still finishes its work."""
    try:
        for line in lines:
            print(visible(line))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(error: object) -> None:
    """Print an error on standard error."""
    print(f"chainviz: {visible(str(error))}", file=sys.stderr, flush=True)


def remark(about: str, text: str) -> None:
    """Print a remark about the output on standard error, unless it is empty."""
    if text:
        print(visible(f"{about}: {text}"), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    print(f"warning: {visible(text)}", file=sys.stderr, flush=True)


class Counter:
    """The progress of a command, on one line of standard error that is overwritten; nothing if that is not a terminal."""

    def __init__(self, noun: str, total: int) -> None:
        self._noun, self._total, self._number = noun, total, 0
        self._width = 0
        self._is_shown = sys.stderr.isatty()

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *reason: object) -> None:
        self.clear()

    def count(self) -> None:
        self._number += 1
        text = f"{self._number:,} of {self._total:,} {self._noun} …"
        self._write(text)
        self._width = len(text)

    def clear(self) -> None:
        """Remove the line before other output."""
        self._write(" " * self._width)
        self._write("")

    def _write(self, text: str) -> None:
        if self._is_shown:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
