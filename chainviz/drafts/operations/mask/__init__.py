"""The mask page: a card for each secret, and the job for long chains."""
