"""Playing opencode from a recording."""
