"""Values as Codex writes them: durations, times, rate limits, loose JSON, TOML."""
