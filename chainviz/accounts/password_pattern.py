"""A validator for passwords that are long but easy to guess: few characters in turn, or a run such as “abcdefghijkl”."""

from __future__ import annotations

from itertools import pairwise

from django.core.exceptions import ValidationError

FEWEST_CHARACTERS = 5
"""Different characters that a password needs."""
KEYBOARD_ROWS = ("qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1234567890")


class PasswordPatternValidator:
    """Refuse a password of fewer than five different characters, or one that follows the alphabet, the digits or the keyboard."""

    def validate(self, password: str, user: object = None) -> None:
        """Raise ValidationError for a password with such a pattern."""
        text = password.casefold()
        if len(set(text)) < FEWEST_CHARACTERS:
            raise ValidationError(
                f"This password has fewer than {FEWEST_CHARACTERS} different characters.", code="few_characters"
            )
        if is_run(text):
            raise ValidationError("This password is a run of neighbouring letters, digits or keys.", code="run")

    def get_help_text(self) -> str:
        """Return the sentence that forms show beside the field."""
        return f"At least {FEWEST_CHARACTERS} different characters, and no run such as “abcdefghijkl”."


def is_run(text: str) -> bool:
    """Whether at least three quarters of the steps from a character to the next lead to its neighbour, or to itself."""
    steps = list(pairwise(text))
    return 4 * sum(map(_is_step, steps)) >= 3 * len(steps) > 0


def _is_step(pair: tuple[str, str]) -> bool:
    first, second = pair
    return abs(ord(first) - ord(second)) <= 1 or any(
        first + second in row or second + first in row for row in KEYBOARD_ROWS
    )
