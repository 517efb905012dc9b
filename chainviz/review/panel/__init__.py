"""The review beside the chain: what the explorer shows of it next to the node that somebody reads. Read page, view in this order."""
