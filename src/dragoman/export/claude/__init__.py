"""The stream-json lines of Claude Code."""
