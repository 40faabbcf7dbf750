"""The only package with SQL: the index of saved sessions, and the live store."""
