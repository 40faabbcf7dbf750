"""The session files that Claude Code keeps, one row for each thing that was said or noted."""
