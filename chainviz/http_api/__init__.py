"""The API under /api/v1/: what pages offer, for programs. Each call uses the services that the page uses.

In reading order: `api` (the addresses, and who may use each), `errors` (refusals as JSON, and the header Idempotency-Key),
`shapes` (what is answered), `uploads`, `chains` (the library, trees, problems, comparisons, exports), `drafts` (operations, drafts,
versions saved), `threads` (comments), `labels`, `reviews`. Each address takes one method. To add a
call: a function with `@requires` in one of them, and a row in tests/accounts/access_rows.py.
"""
