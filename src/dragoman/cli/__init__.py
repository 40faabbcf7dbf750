"""The command line: one module per command. Each imports what it needs when it runs, to start quickly."""
