"""What a summary would fold, before anybody writes a word (seed 1)."""
