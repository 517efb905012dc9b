"""The permissions of each role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from django.db import models

Permission = Literal[
    "read", "compare", "export",
    "comment", "label", "verdict",
    "upload", "draft", "save", "bin", "request review",
    "members", "rules", "share", "purge", "delete", "audit", "backup", "files",
]  # fmt: skip
Access = Permission | Literal["public", "account"]
"""The requirement of an address: a permission, nothing (public), or only that a person is signed in (account)."""

View = TypeVar("View", bound=Callable[..., Any])


class Role(models.TextChoices):
    VIEWER = "viewer"
    COMMENTER = "commenter"
    EDITOR = "editor"
    OWNER = "owner"


VIEWER: frozenset[Permission] = frozenset({"read", "compare", "export"})
COMMENTER: frozenset[Permission] = VIEWER | {"comment", "label", "verdict"}
EDITOR: frozenset[Permission] = COMMENTER | {"upload", "draft", "save", "bin", "request review"}
OWNER: frozenset[Permission] = EDITOR | {"members", "rules", "share", "purge", "delete", "audit", "backup", "files"}
PERMISSIONS = {Role.VIEWER: VIEWER, Role.COMMENTER: COMMENTER, Role.EDITOR: EDITOR, Role.OWNER: OWNER}


class Scope(models.TextChoices):
    """The scope of an API token. It never allows more than the person's role."""

    READ = "read"
    WRITE = "write"
    EXPORT = "export"
    REVIEW = "review"


SCOPES: dict[Scope, frozenset[Permission]] = {
    Scope.READ: frozenset({"read", "compare"}),
    Scope.WRITE: frozenset({"upload", "draft", "save", "comment", "label"}),
    Scope.EXPORT: frozenset({"export"}),
    Scope.REVIEW: frozenset({"verdict", "request review"}),
}


def may(role: str, permission: Permission) -> bool:
    return permission in PERMISSIONS[Role(role)]


def lowest_role(permission: Permission) -> Role:
    """Return the lowest role with a permission."""
    return next(role for role in Role if may(role, permission))


def scope_of(permission: Permission) -> Scope | None:
    """Return the scope with a permission; None if no token allows it."""
    return next((scope for scope, allowed in SCOPES.items() if permission in allowed), None)


def requires(access: Access, *, to_post: Access | None = None, team_mode: bool = False) -> Callable[[View], View]:
    """Declare the permission that a view needs. `MemberMiddleware` checks it.

    `to_post` is a higher permission for submitting the view's form. With `team_mode`, the page does not exist in local mode.
    """

    def declare(view: View) -> View:
        view.access, view.access_to_post = access, to_post or access  # type: ignore[attr-defined]
        view.team_mode = team_mode  # type: ignore[attr-defined]
        return view

    return declare


def access_of(view: Callable[..., Any], method: str | None) -> Access | None:
    """Return the declared access of a view; None if it declares none, so that nobody may use it."""
    name = "access" if method in {"GET", "HEAD", "OPTIONS"} else "access_to_post"
    access: Access | None = getattr(view, name, None)
    return access
