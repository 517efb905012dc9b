"""The form of a run: the options of its act."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from chainviz.accounts.models import Membership
from chainviz.bulk.acts.contract import Act
from chainviz.recipes.step_form import step_form
from chainviz.web.forms import OptionsForm


def form_of(act: Act, member: Membership, data: QueryDict | None = None) -> OptionsForm[Any]:
    form = step_form(act.Options, member, data)
    act.adapt(form, member)
    return form
