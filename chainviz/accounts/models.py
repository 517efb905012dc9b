"""People. Our own user model from the first day, because Django cannot change it later."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser

LOCAL_OWNER = "owner"


class User(AbstractUser):
    pass


def local_owner() -> User:
    """The one person of local mode, made when first needed."""
    owner, created = User.objects.get_or_create(username=LOCAL_OWNER, defaults={"first_name": "You"})
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner
