"""`chainviz recipe`: run the steps of a recipe on each chain of the files, write the result, and report the changes.

A file has no earlier versions, so the purge of a recipe does nothing here. A warning says so, and says where a purge is possible.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chainviz.commands.apply import add_output, apply_to_files
from chainviz.commands.io import add_choice, add_files, add_format
from chainviz.core.errors import DocumentError
from chainviz.core.recipes import read_recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE", help="a recipe as JSON or TOML, such as one downloaded from its page")
    add_files(parser)
    add_format(parser)
    add_choice(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    try:
        content = Path(arguments.recipe).read_bytes()
    except OSError as error:
        raise DocumentError(f"{arguments.recipe} cannot be read: {error.strerror or error}.") from None
    recipe = read_recipe(content)
    return apply_to_files(arguments, lambda chain: chain.apply_recipe(recipe))
