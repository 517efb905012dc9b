"""chainviz in the settings of an agent: what is added, shown as a difference, written beside a backup, and taken out again.

In reading order: `changes` (files before and after, with a value added to JSON text without touching anything else, backups,
and the receipt that removal reads), `agents` (what each agent gets, and what the added commands do).
"""
