from __future__ import annotations

from django.apps import AppConfig
from django.http import multipartparser

LONGEST_PART_HEADER = 64 * 1024
"""Bytes. Django refuses a form whose parts have headers of over 1,024 bytes, so a file with a very long name; the name itself is cut."""


class WebConfig(AppConfig):
    name = "chainviz.web"

    def ready(self) -> None:
        multipartparser.MAX_TOTAL_HEADER_SIZE = LONGEST_PART_HEADER  # type: ignore[attr-defined]
