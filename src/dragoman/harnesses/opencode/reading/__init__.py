"""The dialects of opencode."""
