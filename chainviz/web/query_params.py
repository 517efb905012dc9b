"""Addresses: those of pages that may not exist, and numbers and words in them. An invalid number counts as absent: no form
sent it."""

from __future__ import annotations

from django.urls import NoReverseMatch, reverse


def small_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def typed_words(text: str, most: int) -> str:
    """What somebody typed into a search field, of at most so many characters: one line, without NUL."""
    return " ".join(text.replace("\0", "").split())[:most]


def url_or_nothing(name: str, *args: object) -> str:
    """The page's address, or "" while there is no such page: what does not exist is not offered."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
