"""The acts Label (a tag, a rating or an outcome on each whole chain) and Bin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from django.utils import timezone
from pydantic import Field, model_validator

from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.contract import Act, Finish, NoOptions, Outcome, Result, Work
from chainviz.bulk.models import BulkRow
from chainviz.chains import services
from chainviz.chains.models import Chain
from chainviz.core.operations.contract import Options
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Label
from chainviz.review.requests.services import review_lock


class LabelOptions(Options):
    tag: str = Field("", title="Tag", description="A word such as urgent, up to 40 characters.", max_length=40)
    rating: Literal["", "1", "2", "3", "4", "5"] = Field("", title="Rating", description="From 1 to 5.")
    outcome: Literal["", "pass", "fail"] = Field("", title="Outcome")

    @model_validator(mode="after")
    def _something(self) -> LabelOptions:
        if not (self.tag.strip() or self.rating or self.outcome):
            raise ValueError("choose a tag, a rating or an outcome")
        return self

    def label_choices(self, version: int) -> Iterator[LabelChoice]:
        if self.tag.strip():
            yield LabelChoice(version, "", Label.Kind.TAG, self.tag)
        if self.rating:
            yield LabelChoice(version, "", Label.Kind.RATING, self.rating)
        if self.outcome:
            yield LabelChoice(version, "", Label.Kind.OUTCOME, "1" if self.outcome == "pass" else "0")


class SetLabel(Act):
    name, label, doing, done, icon = "label", "Label", "Labelling", "labelled", "tag"
    permission: Permission = "label"
    hint = "Each chain gets the labels; undo removes them."
    first: tuple[str, ...] = ("tag", "rating", "outcome")
    Options = LabelOptions

    def prepare(self, work: Work) -> Finish:
        assert isinstance(work.options, LabelOptions)
        given = list(work.options.label_choices(work.chain.version))

        def finish() -> Result:
            before = {label.pk: [label.name, label.value] for label in Label.objects.filter(chain=work.chain)}
            labels = [set_label(work.chain, each, by=work.member.user) for each in given]
            made = [[each.pk, before.get(each.pk)] for each in labels if before.get(each.pk) != [each.name, each.value]]
            text = f"{', '.join(each.text for each in labels)}."
            if not made:
                return Result(Outcome.UNCHANGED, f"Already labelled: {text}", work.chain.version)
            return Result(Outcome.CHANGED, text, work.chain.version, facts={"labels": made})

        return finish

    def undo(self, work: Work, made: BulkRow) -> Finish:
        return lambda: _restore_labels(work, made.facts.get("labels", []))


def _restore_labels(work: Work, made: list[list[Any]]) -> Result:
    review_lock(work.chain)
    labels = {label.pk: label for label in Label.objects.filter(chain=work.chain, pk__in=[key for key, _ in made])}
    for key, before in made:
        label = labels.get(key)
        if label is not None and before is None:
            label.delete()
        elif label is not None:
            label.name, label.value = before
            label.at = timezone.now()
            label.save()
    if not labels:
        return Result(Outcome.UNCHANGED, "The labels were already removed.", work.chain.version)
    return Result(Outcome.CHANGED, "The labels were removed.", work.chain.version)


# Moving chains to the bin and back.


class ToBin(Act):
    name, label, doing, done, icon = "bin", "Move to the bin", "Moving to the bin", "moved", "trash"
    permission: Permission = "bin"
    hint = "Chains stay in the bin, with all their versions, until you restore them or delete them permanently."
    first: tuple[str, ...] = ()
    Options = NoOptions

    def prepare(self, work: Work) -> Finish:
        def finish() -> Result:
            services.to_bin(Chain.objects.filter(pk=work.chain.pk))
            return Result(Outcome.CHANGED, "In the bin.", work.chain.version)

        return finish

    def undo(self, work: Work, made: BulkRow) -> Finish:
        def finish() -> Result:
            if not services.from_bin(Chain.objects.in_bin().filter(pk=work.chain.pk)):
                return Result(Outcome.UNCHANGED, "It was already restored.", work.chain.version)
            return Result(Outcome.CHANGED, "Back in the library.", work.chain.version)

        return finish
