"""What the explorer says and draws about the whole chain."""
