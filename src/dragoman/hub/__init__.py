"""Live sessions of one agent: stored first, then delivered to every reader."""
