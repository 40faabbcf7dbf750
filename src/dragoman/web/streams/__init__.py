"""Streams of entries to many readers."""
