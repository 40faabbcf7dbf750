"""The agents that a rehearsal sets up: a home directory and environment variables for each."""
