"""Turns while they run: their messages, their limits, their ends, and turns that are a process each."""
