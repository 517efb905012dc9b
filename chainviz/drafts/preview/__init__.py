"""The page of a draft: its steps, what they change, saving, conflicts and rebasing."""
