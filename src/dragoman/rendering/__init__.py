"""What every transcript for people shares: harmless text, and the state of tool calls."""
