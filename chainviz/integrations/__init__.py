"""chainviz in the settings of an agent: what is added, shown as a difference, written beside a backup, and taken out again.

In reading order: `insertion` (a value added to JSON text without touching anything else), `changes` (files before and after,
backups, and the receipt that removal reads), `agents` (what each agent gets), `hooks` (what the added commands do).
"""
