"""Tables of the review: threads and comments."""

from __future__ import annotations

from chainviz.review.models.threads import Comment, Discussion, Place, Thread

__all__ = ["Comment", "Discussion", "Place", "Thread"]
