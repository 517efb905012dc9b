from __future__ import annotations

from django.apps import AppConfig
from django.http import multipartparser

LONGEST_PART_HEADER = 64 * 1024
"""The longest header of a part, in bytes. Django's limit of 1,024 would refuse a file with a very long name, which is cut only later."""


class WebConfig(AppConfig):
    name = "chainviz.web"

    def ready(self) -> None:
        multipartparser.MAX_TOTAL_HEADER_SIZE = LONGEST_PART_HEADER  # type: ignore[attr-defined]
