"""Where the messages of a snapshot come from: the steps and snapshots before it."""
