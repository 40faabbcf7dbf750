"""Searching the archive, in the index or in the files."""
