"""The rules that a picture breaks: content that cannot be decoded, a type that an API does not take, another type than named."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from chainviz.core.chain.problems import Problem
from chainviz.core.pictures import COMMON, file_of, pictures_in
from chainviz.core.providers.contract import Choice, Excerpt
from chainviz.core.providers.rules.rule import Rule

NOTE = ("image-to-text",)
NAME_OR_NOTE = ("respell-media-type", "image-to-text")


@dataclass(frozen=True, slots=True)
class PictureRules:
    """An API's rules about the files of pictures."""

    broken: Rule
    type: Rule
    mislabelled: Rule
    empty: Rule
    types: Container[str] = COMMON
    """Media types that the API takes."""

    @property
    def choices(self) -> dict[str, Choice]:
        """The rule of each finding."""
        return {
            "image-broken": self.broken,
            "image-odd-type": self._type,
            "image-mislabelled": self.mislabelled,
            "image-empty": self.empty,
        }

    def _type(self, excerpt: Excerpt, problem: Problem) -> Rule | None:
        found = map(file_of, pictures_in(excerpt.message(problem).parts[problem.part or 0]))
        return self.type if any(each is not None and not each.fault and each.type not in self.types for each in found) else None


_OPENAI = "platform.openai.com/docs/guides/images-vision"
_FORMATS = (
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: {types}."
)
_BROKEN = (
    "The image data you provided does not represent a valid image. Please check your input and try again with one of the "
    "supported image formats: {types}."
)


def openai_pictures(make: Callable[..., Rule]) -> PictureRules:
    """The rules of OpenAI's APIs. `make`: makes a rule of one of them."""
    checked = "2026-11-27"
    return PictureRules(
        broken=make("image-broken", "error", _BROKEN, _OPENAI, NOTE, checked=checked),
        type=make(
            "image-type", "error", _FORMATS, "github.com/marketing-factory/ai-filemetadata/issues/18", NOTE, checked=checked
        ),
        mislabelled=make(
            "image-mislabelled", "warning", _FORMATS, _OPENAI, NAME_OR_NOTE, checked=checked,
            note="where a server trusts the named type",
        ),
        empty=make("image-empty", "error", _BROKEN, _OPENAI, NOTE, checked=checked),
    )  # fmt: skip
