"""What the form of a conflict says: the side chosen for each node, also for those that its page does not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.http import QueryDict

from chainviz.core.diff.merge.merged import CHOICES, Choice
from chainviz.store.history.merge import Conflict

FIELD = "choose-"


def choices_in(form: QueryDict) -> dict[str, Choice]:
    """Returns the choices by the keys of their conflicts; the hidden ones first, then those of the fields of the page."""
    hidden = (each.partition(":")[::2] for each in form.get("chosen", "").split())
    shown = ((name.removeprefix(FIELD), value) for name, value in form.items() if name.startswith(FIELD))
    known = {each: each for each in CHOICES}
    return {key: known[str(value)] for key, value in (*hidden, *shown) if value in known}  # type: ignore[index]


def hidden_choices(choices: Mapping[str, Choice], conflicts: Sequence[Conflict]) -> str:
    """The choices for these conflicts as one hidden field holds them."""
    return " ".join(f"{each.key}:{choices[each.key]}" for each in conflicts if each.key in choices)
