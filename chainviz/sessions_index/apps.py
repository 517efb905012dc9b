from __future__ import annotations

from django.apps import AppConfig


class SessionsIndexConfig(AppConfig):
    name = "chainviz.sessions_index"
