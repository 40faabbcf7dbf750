"""``codex exec``: its stream, its command line and its end."""
