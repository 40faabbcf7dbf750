"""Processes that we start: pipes, signals, supervision, and what must end with them."""
