"""Shared by all transcripts for people: harmless text, and the state of tool calls."""
