"""The index of saved sessions: what goes in, and how it stays up to date."""
