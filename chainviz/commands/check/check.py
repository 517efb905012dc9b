"""`chainviz check`: report the problems of each chain, whether a provider's API would accept it, and the place of an API's error."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from chainviz.api.chain import Chain
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import problem_object, unread_object, verdict_objects
from chainviz.api.tree_text import problem_line
from chainviz.api.writing import write_out
from chainviz.commands.check.reports import REPORTS, Checked, checked
from chainviz.commands.check.review import check_reviews
from chainviz.commands.io import Input, add_choice, add_files, add_format, chosen, each_file, tell
from chainviz.core.chain.problems import SEVERITIES, Problem, Severity, strict_error
from chainviz.core.chain.surroundings import UNREAD
from chainviz.core.errors import DocumentError, OptionsError
from chainviz.core.formats import get_format
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.operations.repair import CHOICES
from chainviz.core.pasted_errors.locate import LocatedError, what_was_tried
from chainviz.core.pasted_errors.message import ErrorMessage, read_error
from chainviz.core.providers.check import Verdict, verdict_of
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import reason_without_fix


def read_text(name: str) -> str:
    """Return the text of the error. `-` reads standard input. Raises DocumentError if the file cannot be read."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(name).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise DocumentError(f"{name} cannot be read: {error.strerror or error}.") from None


MOST_SESSIONS = 3
"""The most sessions with an id of the error that are listed, latest changes first."""


def sessions_with(error: ErrorMessage) -> list[str]:
    """Return the addresses of sessions of this machine that have an id of the error. Raises DocumentError if there are none."""
    from chainviz.api.sessions import sessions  # imported late because it loads sqlite3
    from chainviz.fixes.by_error import addresses_with, ids_of

    ids = ids_of(error)
    if not ids:
        raise DocumentError("The error names no id of a call or message, by which its session could be found; name the file.")
    found = list(islice(addresses_with(ids, (session.address for session in sessions())), MOST_SESSIONS))
    if not found:
        raise DocumentError(f"No session of this machine has the id {' or '.join(id[:60] for id in ids[:4])}.")
    return found


def located_object(chain: Chain, error: ErrorMessage, found: LocatedError) -> dict[str, object]:
    return {
        "format": chain.format,
        "source": chain.title,
        "provider": found.provider.name if found.provider else None,
        "rule": found.problems[0].rule if found.problems else None,
        "path": str(found.path) if found.path is not None else None,
        "text": found.problems[0].text if found.problems else None,
        "fixes": list(found.fixes),
        "without_fix": reason_without_fix(found.problems[0]) if found.problems else "",
        "others": [str(problem.path) for problem in found.problems[1:]],
        "guess": found.is_guess,
        "tried": list(what_was_tried(error, found)) if found.is_guess or not found.problems else [],
    }


def located_lines(chain: Chain, error: ErrorMessage, found: LocatedError) -> Iterator[str]:
    if not found.problems:
        known = "has no such problem" if found.provider else "has no known error with this message"
        if found.fixes:
            known = "does not show the cause"
        named = f"; the message names {found.path}" if found.path is not None else ""
        yield f"{chain.title}: the chain {known}{named}"
        yield from (f"  {sentence}" for sentence in what_was_tried(error, found))
        yield from (_fix_line(chain, name, f" --set since={found.path}") for name in found.fixes)
        return
    best = found.problems[0]
    yield f"{chain.title}: {found.path}: {best.text}"
    yield from (f"  {sentence}" for sentence in what_was_tried(error, found)) if found.is_guess else ()
    yield from (_fix_line(chain, name) for name in found.fixes)
    if reason := reason_without_fix(best):
        yield f"  no automatic fix: {reason}"
    if len(found.problems) > 1:
        yield f"  {len(found.problems) - 1:,} more like it: {', '.join(str(each.path) for each in found.problems[1:6])}"


def _fix_line(chain: Chain, name: str, more: str = "") -> str:
    return f"  fix: chainviz apply repair {chain.file.name} --set only={name}{more} ({CHOICES[name][0].lower()})"


FOUND: tuple[Severity, ...] = ("error", "warning")
FAILING: dict[str, tuple[Severity, ...]] = {"error": ("error",), "warning": FOUND, "unchecked": (*FOUND, "unchecked")}
"""The severities that make the exit code 1, by --fail-on. Infos never do."""


OWN = "own"
"""The value of --provider for the provider of the chain's next call."""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser, may_lack=True)
    add_format(parser)
    add_choice(parser)
    names = [OWN, *(provider.name.replace("-", "_") for provider in PROVIDERS)]
    parser.add_argument(
        "--provider",
        type=lambda name: name.replace("-", "_"),
        choices=names,
        help="also check the rules of this provider's API; own is the one that the next call goes to",
    )
    parser.add_argument(
        "--fail-on",
        choices=list(FAILING),
        default="warning",
        help="lowest severity that makes the exit code 1; unchecked also fails chains that could not be fully checked (default: warning); "
        "a chain that is not fully read fails unless it is error",
    )
    parser.add_argument(
        "--error",
        metavar="FILE",
        help="an error message of an API: say where it is in the chain and what fixes it; - reads standard input. Without files, the "
        "session of this machine that has its ids is looked for",
    )
    parser.add_argument(
        "--review",
        action="store_true",
        help="instead of files, take the addresses of chains on a server, with a token in CHAINVIZ_TOKEN, or on the server itself the "
        "numbers of stored chains; exit code 1 where a rule of the team is not met",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print JSON Lines, one object per chain")
    printed.add_argument(
        "--report",
        action="append",
        type=read_report,
        metavar="NAME[=FILE]",
        help=f"one report for all files, for CI: {', '.join(REPORTS)}; with =FILE it is written there, and can be given several times",
    )


def run_check(arguments: argparse.Namespace) -> int:
    if not (arguments.files or arguments.error):
        raise OptionsError("Name a file to check, or an error with --error.")
    if arguments.review:
        return check_reviews(arguments.files, as_json=arguments.json)
    if arguments.error:
        return _locate(arguments)
    if sum(not path for _, path in arguments.report or ()) > 1:
        raise OptionsError("Only one report can be printed; write the others to files: --report sarif=FILE.")
    reported: list[Checked] = []

    def check(each: Input, file: ChainFile) -> int:
        found = False
        for chain in chosen(file, arguments.chain):
            name = chain.provider if arguments.provider == OWN else arguments.provider
            provider = get_provider(name) if name else None
            problems = chain.problems(name or "")
            verdicts = [(provider, _verdict(provider, problems))] if provider else []
            found |= any(problem.severity in FAILING[arguments.fail_on] for problem in problems)
            found |= arguments.fail_on != "error" and not chain.is_fully_read
            if arguments.report:
                reported.append(checked(chain, problems, FAILING[arguments.fail_on]))
                continue
            tell([_object(chain, problems, verdicts)] if arguments.json else _lines(chain, problems, verdicts))
        return 1 if found else 0

    code = each_file(arguments, check)
    for name, path in arguments.report or ():
        _write_report(REPORTS[name](reported), path)
    return code


def read_report(text: str) -> tuple[str, str]:
    """Read the name of a report and the file that it is written to, which is "" for standard output."""
    name, _, path = text.partition("=")
    if name not in REPORTS:
        raise argparse.ArgumentTypeError(f"there is no report “{name[:40]}”; choose one of {', '.join(REPORTS)}")
    return name, path


def _write_report(lines: Iterator[str], path: str) -> None:
    if path:
        write_out(path, (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines))
    else:
        tell(lines)


def _locate(arguments: argparse.Namespace) -> int:
    """Print where the chains have the error. Return 0 if it was found, otherwise 1."""
    if arguments.error == "-" and "-" in arguments.files:
        raise OptionsError("The error and a transcript cannot both come from standard input.")
    error = read_error(read_text(arguments.error))
    is_search = not arguments.files
    arguments.files = arguments.files or sessions_with(error)
    found = False

    def locate(each: Input, file: ChainFile) -> int:
        nonlocal found
        for chain in chosen(file, arguments.chain):
            place = chain.locate_error(error)
            found |= bool(place.problems or place.fixes)
            if is_search and not place.places.best:
                continue
            told = [json.dumps(located_object(chain, error, place))] if arguments.json else located_lines(chain, error, place)
            tell(told)
            if is_search and not arguments.json:
                tell([f"  write the fix to the session: chainviz fix {each.name}"])
        return 0

    return each_file(arguments, locate) or int(not found)


Verdicts = Sequence[tuple[Provider, Verdict]]


def _verdict(provider: Provider, problems: Sequence[Problem]) -> Verdict:
    return verdict_of(problem for problem in problems if problem.provider == provider.name)


def _lines(chain: Chain, problems: Sequence[Problem], verdicts: Verdicts) -> Iterator[str]:
    yield f"{chain.title}: {_summary(problems)}"
    yield from (f"  {provider.label}: {verdict.text}" for provider, verdict in verdicts)
    yield from (f"  {problem_line(problem)}" for problem in problems)
    yield from (f"  note: {warning}" for warning in (*chain.warnings, *_describe_unsent(chain, problems)))


def _describe_unsent(chain: Chain, problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a sentence that counts problems in messages that an agent does not send when it resumes the session."""
    format, messages = get_format(chain.format), chain.messages
    start = format.sent_from(messages)
    unsent = {place for place, message in enumerate(messages) if place < start or not format.is_sent(message)}
    count = sum(problem.severity in FOUND and problem.message in unsent for problem in problems)
    if count:
        what = "1 of these problems is" if count == 1 else f"{count:,} of these problems are"
        yield f"{what} in messages that the agent no longer sends; `chainviz fix` leaves them"


def _object(chain: Chain, problems: Sequence[Problem], verdicts: Verdicts) -> str:
    found = {
        "format": chain.format,
        "source": chain.title,
        "problems": [{**problem_object(problem), "provider": problem.provider or None} for problem in problems],
        "verdicts": verdict_objects({provider.name: verdict for provider, verdict in verdicts}),
        "unread": [unread_object(each) for each in chain.unread],
        "strict_error": strict_error(chain.tree),
    }
    return json.dumps(found)


def _summary(problems: Sequence[Problem]) -> str:
    """Sum up the problems of the structure; the verdicts count those of providers."""
    own = [problem for problem in problems if not problem.provider and problem.rule != UNREAD]
    counts = [(sum(problem.severity == severity for problem in own), severity) for severity in SEVERITIES]
    found = ", ".join(f"{count} {word}{'s' if count > 1 and word in FOUND else ''}" for count, word in counts if count)
    if any(problem.rule == UNREAD for problem in problems):
        return f"not fully read, structure: {found}" if found else "not fully read"
    return f"structure: {found}" if found else "structure valid"
