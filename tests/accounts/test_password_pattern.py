"""Passwords that are long but easy to guess."""

from __future__ import annotations

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    [
        "aaaaaaaaaaaa", "AaAaAaAaAaAa", "abababababab", "abcabcabcabc", "abcdabcdabcdabcd", "............", "123412341234",
        "abcdefghijkl", "zyxwvutsrqponm", "qwertyuiopasdf", "1234567890ab", "975312468086", "ABCDEFGHIJKLM!", "aabbccddeeffgg",
        "лллллллллллл", "абвгдежзийкл",
    ],
)  # fmt: skip
def test_pattern_is_refused_in_a_sentence(password: str) -> None:
    with pytest.raises(ValidationError) as raised:
        validate_password(password)
    assert all(text.endswith(".") for text in raised.value.messages)


@pytest.mark.parametrize("password", ["correct horse battery", "vK9#xq2!mTzw", "wide-river-moss", "деревянный-мост", "4f9a1c77e02b"])
def test_other_long_passwords_are_taken(password: str) -> None:
    validate_password(password)
