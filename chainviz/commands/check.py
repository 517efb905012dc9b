"""`chainviz check`: what is wrong in each chain, and what a provider's API would say to it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from chainviz.commands.chain_files import add_choice, add_file, add_format, add_json, chosen, opened
from chainviz.commands.reports import all_problems, print_json, problem_line, problem_object
from chainviz.core.chain.parse import parse
from chainviz.core.chain.problems import Problem, strict_error
from chainviz.core.load import LoadedChain
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import check

FOUND = ("error", "warning")
"""Severities that make the exit code 1; what is odd but legal does not."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_format(parser)
    add_choice(parser)
    parser.add_argument(
        "--provider",
        type=_spelled,
        choices=[_spelled(provider.name) for provider in PROVIDERS],
        help="also the rules of this provider's API",
    )
    add_json(parser)


def _spelled(name: str) -> str:
    """Names of providers and of formats look alike; both spellings are taken."""
    return name.replace("-", "_")


def run(arguments: argparse.Namespace) -> int:
    found = False
    with opened(arguments.file, arguments) as file:
        for chain in chosen(file, arguments.chain):
            problems = list(_problems(chain, arguments.provider))
            found |= any(problem.severity in FOUND for problem in problems)
            if arguments.json:
                _print_object(chain, file.title(chain), problems)
            else:
                print(f"{file.title(chain)}: {_summary(problems)}")
                for problem in problems:
                    print(f"  {problem_line(problem)}")
                for warning in chain.warnings:
                    print(f"  note: {warning}")
    return 1 if found else 0


def _problems(chain: LoadedChain, provider: str | None) -> Iterator[Problem]:
    tree = parse(chain.messages)
    yield from all_problems(tree)
    for known in PROVIDERS:
        if _spelled(known.name) == provider:
            yield from check(known, tree)


def _print_object(chain: LoadedChain, title: str, problems: list[Problem]) -> None:
    print_json(
        {
            "format": chain.format,
            "source": title,
            "problems": [{**problem_object(problem), "provider": problem.provider or None} for problem in problems],
            "strict_error": strict_error(parse(chain.messages)),
        }
    )


def _summary(problems: list[Problem]) -> str:
    if not problems:
        return "no problems"
    counts = [(sum(p.severity == severity for p in problems), severity) for severity in ("error", "warning", "info")]
    return ", ".join(f"{count} {word}{'s' if count > 1 and word != 'info' else ''}" for count, word in counts if count)
