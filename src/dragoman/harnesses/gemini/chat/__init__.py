"""The chat files that Gemini CLI keeps: logs of what was done to a conversation."""
