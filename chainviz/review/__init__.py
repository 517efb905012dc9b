"""What people say about a chain: threads of comments on exact places, reviews and sign-off.

models/ (tables), threads/ (comments: anchors, writing, pages), requests/ (reviews), panel/ (both beside the chain), labels/, exports,
fsck, urls. What happens to an anchor when a chain changes is decided in core/review.
"""
