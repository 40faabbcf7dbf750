"""The live view of a session, on a terminal or in a pipe."""
