"""A transcript for a terminal."""
