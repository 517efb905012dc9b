"""The team's audit log: who did what and when, in rows that are never changed and whose digests form one chain a team.

Rows hold ids, roles and names of people, never content of a transcript, so no purge has to reach them.
Read models, record, words, chain, listing, view in this order.
"""
