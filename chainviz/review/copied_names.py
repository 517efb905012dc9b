"""Names of people, copied beside what they said. In local mode that is “You”, which everybody else would read as themselves."""

from __future__ import annotations

from chainviz.accounts.models import User
from chainviz.review.models import Comment, Label, Thread


def rename(person: User) -> None:
    """Gives everything that a person said in local mode the name of the account they became."""
    name = person.display_name
    Comment.objects.filter(author=person).update(author_name=name)
    Thread.objects.filter(resolved_by=person).update(resolved_by_name=name)
    Label.objects.filter(person=person).update(person_name=name)
