"""What a command prints. Control characters of a transcript or a file's name are shown, so that none acts on the terminal.

Content that is exported goes through `chainviz.api.writing` instead, byte by byte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from chainviz.core.terminal import visible


def tell(lines: Iterable[str]) -> None:
    """Prints lines. A reader that has had enough (`chainviz show … | head`) does not stop what is still to be written."""
    try:
        for line in lines:
            print(visible(line))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(error: object) -> None:
    """Prints why something was not done on standard error."""
    print(f"chainviz: {visible(str(error))}", file=sys.stderr, flush=True)


def remark(about: str, text: str) -> None:
    """Prints on standard error what is worth knowing beside the output; nothing where there is no text."""
    if text:
        print(visible(f"{about}: {text}"), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Prints on standard error what a person should know about what was done."""
    print(f"warning: {visible(text)}", file=sys.stderr, flush=True)
