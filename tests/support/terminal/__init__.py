"""Terminals for tests: ptys, tmux, and what is played on them."""
