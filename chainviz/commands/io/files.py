"""Files on the command line: those that are named and those of folders, read one after the other, and where each is written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chainviz.api.chain import Chain, chains_of
from chainviz.api.file import ChainFile, open_file
from chainviz.commands.io.output import complain
from chainviz.core.documents.compressed import plain_name
from chainviz.core.errors import ChainError, DocumentError, OptionsError
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.contract import Format
from chainviz.sessions.backups import is_backup


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    """A path, or - for standard input."""
    place: str
    """Its path in a folder that holds what several inputs become."""


def add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="transcripts, or folders of transcripts; - reads standard input"
    )


def add_file(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(name, metavar=name.upper(), help="a transcript: JSON or JSON Lines; - reads standard input")


def add_format(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(format.name for format in FORMATS)
    choices = " ".join(_choices(format) for format in FORMATS if format.choices)
    parser.add_argument("--format", metavar="NAME", help=f"the file's format instead of the detected one: {names}. {choices}")
    parser.add_argument("--salvage", action="store_true", help="read the complete messages of a file that is cut off")


def _choices(format: Format) -> str:
    """How the values of its choices are written that are not the usual ones."""
    unusual = [(value, f"{choice.label} {label}".lower()) for choice in format.choices for value, label in choice.values[1:]]
    said = ", ".join(f"{value} ({label})" for value, label in unusual)
    example = ",".join(value for value, _ in unusual)
    return f"How {format.name} is read can be chosen after a colon, as in {format.name}:{example}: {said}."


def add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chain", type=int, metavar="N", help="only the N-th chain of the file, counted from 1")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON Lines, one object per chain")


def each_file(arguments: argparse.Namespace, work: Callable[[Input, ChainFile], int]) -> int:
    """Does the work on every file; one that cannot be read is reported on standard error and does not stop the others.

    Returns the highest exit code.
    """
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
    """The files that are named, and all files below the folders that are, without hidden ones and backups of sessions."""
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
    """The chains of a file; DocumentError, naming the file, where it cannot be read."""
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
    """All chains of the file, or the one of this number."""
    chains = chains_of(file)
    if number is None:
        return chains
    if not 1 <= number <= len(chains):
        held = "1 chain" if len(chains) == 1 else f"{len(chains)} chains"
        raise OptionsError(f"{file.name} holds {held}; there is no chain {number}.")
    return [chains[number - 1]]


class Outputs:
    """Where what the inputs become is written: a file for one, a folder for several."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._out: str = arguments.out or ""
        self._is_folder = len(arguments.files) > 1 or any(Path(name).is_dir() for name in arguments.files)
        self._taken: dict[str, str] = {}
        """By what is written, the name of its input."""
        if arguments.json and self._out == "-":
            raise OptionsError(
                "--json and --out - would both write to standard output; choose a file for one of them."
            )
        if self._is_folder and self._out == "-":
            raise OptionsError("Several files cannot all be written to standard output; name a folder with --out.")
        if self._is_folder and Path(self._out).is_file():
            raise OptionsError(f"{self._out} is a file; several files are written to a folder.")

    def path(self, each: Input) -> str:
        """Raises OptionsError where another input has become this file already."""
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
