"""The command line: a thin front door. Each command imports what it needs when it runs."""
