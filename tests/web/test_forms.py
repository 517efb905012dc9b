"""Forms made from options: the model alone says what is asked, what is refused and in which words."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chainviz.web.forms import options_form


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(json_schema_extra={"hidden": True})
    limit: Annotated[int, Field(ge=0, le=100, title="Limit of a section", json_schema_extra={"unit": "KB"})] = 50
    ratio: float | None = None
    policy: Literal["keep", "drop"] = "keep"
    to: str = Field("same", json_schema_extra={"choices": {"same": "the same format", "raw": "Raw text"}})
    dry: bool = True
    tools: tuple[str, ...] = ()
    note: str = Field("", description="Why.", json_schema_extra={"long": True, "group": "Words"})

    @field_validator("note")
    @classmethod
    def no_shouting(cls, note: str) -> str:
        if note.isupper():
            raise ValueError("do not shout")
        return note


FORM = options_form(Options)


def posted(**changed: str) -> FORM:
    data = {"limit": "50", "ratio": "", "policy": "keep", "to": "same", "tools": "", "note": "", **changed}
    return FORM(data, fixed={"path": "s1"})


def test_a_field_has_the_models_label_limits_and_unit() -> None:
    form = FORM()
    limit = form.fields["limit"]
    assert (limit.label, limit.min_value, limit.max_value, limit.unit, limit.initial) == ("Limit of a section", 0, 100, "KB", 50)
    assert form.fields["note"].help_text == "Why."
    assert "path" not in form.fields
    assert [group.legend for group in form.groups()] == ["", "Words"]


def test_a_text_with_choices_is_a_list_of_labels() -> None:
    assert FORM().fields["to"].choices == [("same", "the same format"), ("raw", "Raw text")]
    assert posted(to="raw").is_valid()
    assert list(posted(to="elsewhere").errors) == ["to"]


def test_what_is_given_becomes_options() -> None:
    form = posted(limit="7", ratio="0.5", policy="drop", tools="read_*, grep", note=" a\n")
    assert form.is_valid(), form.errors
    # an unticked box is a no, not the default
    assert form.options == Options(path="s1", limit=7, ratio=0.5, policy="drop", dry=False, tools=("read_*", "grep"), note=" a\n")


def test_an_empty_number_is_the_default() -> None:
    form = posted(limit="", dry="on")
    assert form.is_valid(), form.errors
    assert form.options == Options(path="s1")


@pytest.mark.parametrize(("field", "value"), [("limit", "101"), ("limit", "-1"), ("limit", "x"), ("policy", "burn"), ("note", "AAA")])
def test_what_the_model_refuses_is_said_at_its_field(field: str, value: str) -> None:
    form = posted(**{field: value})
    assert not form.is_valid()
    assert list(form.errors) == [field]


def test_a_refusal_of_the_model_is_a_sentence() -> None:
    form = posted(note="AAA")
    assert form.errors["note"] == ["Do not shout."]
