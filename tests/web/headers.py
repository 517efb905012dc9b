"""The headers that every answer has, whoever makes it."""

from __future__ import annotations

from typing import Any

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LEAST = ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action")
"""Directives of the policy of everything that a browser shows."""


def missing_headers(answer: Any, *, may_be_cached: bool = False) -> list[str]:
    """Return the headers that a response lacks, and those that a download lacks if a browser could run it."""
    found = [name for name, value in ALWAYS.items() if answer.get(name) != value]
    policy = answer.get("Content-Security-Policy", "")
    if answer.get("Content-Disposition", "").startswith("attachment"):
        found += [] if policy.startswith("sandbox") or "default-src 'none'" in policy else ["Content-Security-Policy"]
    elif any(each not in policy for each in LEAST) or "unsafe" in policy:
        found.append("Content-Security-Policy")
    if not may_be_cached and answer.get("Cache-Control") != "no-store":
        found.append("Cache-Control")
    return found
