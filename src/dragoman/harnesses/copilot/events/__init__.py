"""The events of Copilot: the same in its output, in its files and from its server."""
