"""A recording served as Codex: its exec stream and its app-server."""
