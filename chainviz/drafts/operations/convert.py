"""The choices for a conversion, with what the chosen format would lose below it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from chainviz.chains.exports.export import Export
from chainviz.core.operations.convert import SAME
from chainviz.drafts.operations.choices import Choices
from chainviz.recipes.step_form import context_of


class ConvertChoices(Choices):
    template = "drafts/operations/convert.html"
    fragment = "drafts/operations/_losses.html"

    def answer(self) -> HttpResponse | None:
        """Show the page again when only the losses are asked for, which is the button without JavaScript."""
        is_look = self.request.method == "POST" and self.request.POST.get("act") == "look"
        return self.page() if is_look else None

    def context(self) -> dict[str, Any]:
        format = self.form.fields["to"]
        format.choices = [(SAME, "Choose a format"), *format.choices[1:]]  # type: ignore[attr-defined]
        name = str(self.form["to"].value() or SAME)
        is_known = name != SAME and name in dict(format.choices)  # type: ignore[attr-defined]
        target = Export.to(self.target.subject, name) if is_known else None
        return {"target": target, "export_href": f"{self.target.explorer}export", **context_of(self.form, ("to",))}
