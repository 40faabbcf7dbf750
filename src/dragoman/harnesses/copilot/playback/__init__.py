"""Playing Copilot from a recording."""
