"""Playing an agent that speaks stream-json."""
