"""What people say about a chain: threads of comments on exact places, reviews and sign-off.

In reading order: `models` (tables), `threads` (comments: anchors, writing, pages), `requests` (reviews), `panel` (both beside the
chain), `labels`, `certificates`, `notices` and `inbox`, `csv_and_jsonl`, `fsck`, `urls`.
What happens to an anchor when a chain changes is decided in core/review.
"""
