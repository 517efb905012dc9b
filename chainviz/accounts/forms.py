"""Forms of accounts and teams. Passwords are checked by Django's validators (settings.AUTH_PASSWORD_VALIDATORS)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from chainviz.accounts.models import User
from chainviz.accounts.permissions import Role, Scope

LONGEST_PASSWORD = 200
"""Characters: hashing a very long one would keep the server busy."""


def password_field(label: str, autocomplete: str, **more: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"class": "input", "autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, max_length=LONGEST_PASSWORD, widget=widget, **more)


def email_field(autocomplete: str) -> forms.EmailField:
    return forms.EmailField(
        label="E-mail", max_length=150, widget=forms.EmailInput(attrs={"class": "input", "autocomplete": autocomplete})
    )


class SignInForm(forms.Form):
    email = email_field("username")
    password = password_field("Password", "current-password")

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class JoinForm(forms.Form):
    name = forms.CharField(
        label="Your name", max_length=150, widget=forms.TextInput(attrs={"class": "input", "autocomplete": "name"})
    )
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
    role = forms.ChoiceField(
        choices=Role.choices, initial=Role.COMMENTER, widget=forms.Select(attrs={"class": "select"})
    )


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name", max_length=60, widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"})
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (Scope.READ, "Read: list and read chains, versions, problems, comparisons"),
            (Scope.WRITE, "Write: upload, run operations, save versions"),
            (Scope.EXPORT, "Export: download chains"),
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
