"""A team's recipes and word lists. Both are content: purge, scan, fsck and backup reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.db import models

from chainviz.accounts.models import Membership, Team
from chainviz.core import recipes as core
from chainviz.core.errors import OptionsError
from chainviz.core.secrets import word_lists as core_lists
from chainviz.jobs.models import AsciiJSONField
from chainviz.store.checksums import Checked, CheckedQuerySet


class Shelf(Checked):
    """All recipes and word lists of a team. With it, fsck notices missing ones, and writers wait for each other."""

    team = models.OneToOneField(Team, on_delete=models.PROTECT, primary_key=True, related_name="shelf")

    def __str__(self) -> str:
        return f"recipes of team {self.team_id}"

    def covered(self) -> Iterable[object]:
        for rows in ("word_lists", "recipes"):
            yield list(getattr(self.team, rows).order_by("pk").values_list("pk", flat=True))


class OfTeam(Checked):
    """A row that editors change in turn: a form names the edition that it was created for."""

    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    edition = models.PositiveIntegerField(default=1)

    class Meta(Checked.Meta):
        abstract = True
        ordering = ["name"]

    def __str__(self) -> str:
        return str(getattr(self, "name", ""))


class WordListQuerySet(CheckedQuerySet["WordList"]):
    def visible_to(self, member: Membership) -> WordListQuerySet:
        return self.filter(team=member.team_id)


class WordList(OfTeam):
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="word_lists")
    name = models.CharField(max_length=core_lists.LONGEST_NAME)
    words = models.TextField(default="", blank=True)
    """The words, one on each line."""
    patterns = models.TextField(default="", blank=True)
    """The patterns in the syntax of RE2, one on each line."""
    purged_lines = models.PositiveIntegerField(null=True)
    """The number of words and patterns that purges removed since the list was last saved; null for none."""

    objects = WordListQuerySet.as_manager()  # type: ignore[misc]

    class Meta(OfTeam.Meta):
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="word_list_named_once")]

    def purged(self, blank: Callable[[Any], Any]) -> dict[str, Any]:
        """Return its columns without purged values. Lines with a purged value are removed, since a blank is not a word."""
        kept = {name: _without_lines(getattr(self, name), blank) for name in ("words", "patterns")}
        removed = sum(_count_lines(getattr(self, name)) - _count_lines(text) for name, text in kept.items())
        return {"name": blank(self.name), **kept, "purged_lines": (self.purged_lines or 0) + removed or None}

    @property
    def is_emptied(self) -> bool:
        """True if a purge removed its whole content, since nobody can save an empty list."""
        return self.pk is not None and not (self.words.strip() or self.patterns.strip())

    @property
    def value(self) -> core_lists.WordList:
        return core_lists.WordList(self.name, self.words, self.patterns)


class RecipeQuerySet(CheckedQuerySet["Recipe"]):
    def visible_to(self, member: Membership) -> RecipeQuerySet:
        return self.filter(team=member.team_id)


class Recipe(OfTeam):
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="recipes")
    name = models.CharField(max_length=core.LONGEST_NAME)
    steps = AsciiJSONField(default=list)
    """For each step: `[operation, options that differ from the defaults]`. The last one may be the purge, which is not
    an operation."""
    purged_steps = AsciiJSONField(null=True)
    """The numbers, from 1, of the steps from which purges removed texts since the recipe was last saved; null for none."""

    objects = RecipeQuerySet.as_manager()  # type: ignore[misc]

    class Meta(OfTeam.Meta):
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="recipe_named_once")]

    def purged(self, blank: Callable[[Any], Any]) -> dict[str, Any]:
        """Return its columns without purged values. An option that its operation cannot accept as blank gets its default."""
        steps = [[name, _purged(name, options, blank)] for name, options in self.steps]
        changed = {number for number, (old, new) in enumerate(zip(self.steps, steps, strict=True), 1) if list(old) != new}
        return {"name": blank(self.name), "steps": steps, "purged_steps": sorted(changed.union(self.purged_steps or ())) or None}

    @property
    def marked_steps(self) -> frozenset[int]:
        """The numbers, from 1, of the steps that a purge changed. An option that is "" was something else when it was
        saved: earlier versions of the program did not record the steps of purges."""
        emptied = (number for number, (_, options) in enumerate(self.steps, 1) if "" in options.values())
        return frozenset((*emptied, *(self.purged_steps or ())))

    @property
    def purges(self) -> bool:
        return [name for name, _ in self.steps[-1:]] == [core.PURGE]


def _without_lines(text: str, blank: Callable[[Any], Any]) -> str:
    """Remove lines with a purged value, since a blank is not a word."""
    return "\n".join(line for line in text.split("\n") if blank(line) == line)


def _count_lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _purged(operation: str, options: dict[str, Any], blank: Callable[[Any], Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in options.items():
        new = _without_lines(value, blank) if isinstance(value, str) else blank(value)
        try:
            core.make_step(operation, {**kept, name: new})
        except OptionsError:
            continue
        kept[name] = new
    return kept
