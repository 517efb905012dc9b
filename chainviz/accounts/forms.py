"""Forms of accounts and teams. Passwords are checked by Django's validators (settings.AUTH_PASSWORD_VALIDATORS)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from chainviz.accounts.models import User
from chainviz.accounts.permissions import Role, Scope
from chainviz.web.errors import sent_texts

LONGEST_PASSWORD = 200
"""The longest password, in characters, because hashing a very long one would keep the server busy."""


def password_field(label: str, autocomplete: str, **more: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"class": "input", "autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, max_length=LONGEST_PASSWORD, widget=widget, **more)


def email_field(autocomplete: str) -> forms.EmailField:
    return forms.EmailField(label="E-mail", max_length=150, widget=forms.EmailInput(attrs={"class": "input", "autocomplete": autocomplete}))


class SignInForm(forms.Form):
    email = email_field("username")
    password = password_field("Password", "current-password")

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class JoinForm(forms.Form):
    name = forms.CharField(label="Your name", max_length=150, widget=forms.TextInput(attrs={"class": "input", "autocomplete": "name"}))
    password = password_field("Password", "new-password", help_text="At least 12 characters")

    def __init__(self, *args: Any, email: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.email = email

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        validate_password(password, User(username=self.email, email=self.email))
        return password


class PasswordForm(forms.Form):
    current_password = password_field("Current password", "current-password")
    new_password = password_field("New password", "new-password", help_text="At least 12 characters")

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean_current_password(self) -> str:
        password = str(self.cleaned_data["current_password"])
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not your current password.")
        return password

    def clean_new_password(self) -> str:
        password = str(self.cleaned_data["new_password"])
        validate_password(password, self.user)
        return password


class InviteForm(forms.Form):
    email = email_field("off")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.COMMENTER, widget=forms.Select(attrs={"class": "select"}))


class TokenForm(forms.Form):
    name = forms.CharField(label="Name", max_length=60, widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}))
    scopes = forms.MultipleChoiceField(
        choices=[
            (Scope.READ, "Read: list and read chains, versions, problems, comparisons"),
            (Scope.WRITE, "Write: upload, run operations, save versions"),
            (Scope.EXPORT, "Export: download chains"),
            (Scope.REVIEW, "Review: give verdicts in your name, request reviews, sign off"),
        ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
    )
    days = forms.ChoiceField(
        label="Expires",
        choices=[("30", "in 30 days"), ("90", "in 90 days"), ("365", "in 1 year")],
        initial="90",
        widget=forms.Select(attrs={"class": "select"}),
    )


# A validator for passwords that are long but easy to guess: a few repeated characters, or a sequence such as “abcdefghijkl”.


FEWEST_CHARACTERS = 5
"""The fewest different characters of a password."""
KEYBOARD_ROWS = ("qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1234567890")


class PasswordPatternValidator:
    """Refuse a password of fewer than five different characters, or one that follows the alphabet, the digits or the keyboard."""

    def validate(self, password: str, user: object = None) -> None:
        """Raise ValidationError for a password with such a pattern."""
        text = password.casefold()
        if len(set(text)) < FEWEST_CHARACTERS:
            raise ValidationError(f"This password has fewer than {FEWEST_CHARACTERS} different characters.", code="few_characters")
        if is_run(text):
            raise ValidationError("This password is a run of neighbouring letters, digits or keys.", code="run")

    def get_help_text(self) -> str:
        """Return the sentence that forms show beside the field."""
        return f"At least {FEWEST_CHARACTERS} different characters, and no run such as “abcdefghijkl”."


def is_run(text: str) -> bool:
    """Return True if at least three quarters of the characters equal the previous one or are next to it, in the alphabet or on the
    keyboard."""
    steps = list(pairwise(text))
    return 4 * sum(map(_is_step, steps)) >= 3 * len(steps) > 0


def _is_step(pair: tuple[str, str]) -> bool:
    first, second = pair
    return abs(ord(first) - ord(second)) <= 1 or any(first + second in row or second + first in row for row in KEYBOARD_ROWS)


# A form that is submitted after its session has ended is kept in the sign-in page, and the person can submit it again afterwards. The
# server stores nothing: a hidden field contains the form, signed, so that only forms that were really sent here are accepted. The page
# never submits the form automatically.


FIELD = "kept_form"
SALT = "chainviz.kept-form"
VALID_FOR = 24 * 3600
"""Seconds."""
LARGEST = 32_000_000
"""The largest form, in bytes, that the server reads."""
MOST_KEPT = 24_000_000
"""The longest hidden field, in characters after compression. The form that contains it must be below the same limit."""


@dataclass(frozen=True, slots=True)
class KeptForm:
    address: str
    fields: list[tuple[str, str]]
    """The fields in the order of the form, including hidden ones."""
    texts: list[tuple[str, str]]
    """The fields that a person may have typed."""
    has_files: bool
    """The form had files, which must be chosen again."""


class TooLarge(Exception):
    """Raised if a form is too large to be kept in a page."""


def keep(request: HttpRequest) -> str:
    """Return the value of the hidden field; empty if the form has no typed text. Raises TooLarge."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > LARGEST:
        raise TooLarge
    texts = sent_texts(request, LARGEST)
    if not texts:
        return ""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken" and "password" not in name
    ]
    form = [request.get_full_path(), fields, texts, bool(request.FILES)]
    value = signing.dumps(form, salt=SALT, compress=True)
    if len(value) > MOST_KEPT:
        raise TooLarge
    return value


def form_from_sign_in(request: HttpRequest) -> KeptForm | None:
    """Return the form that is kept in the sign-in form; None if there is none from the last day."""
    try:
        address, fields, texts, has_files = signing.loads(request.POST.get(FIELD, ""), salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature:
        return None
    return KeptForm(address, fields, texts, has_files)
