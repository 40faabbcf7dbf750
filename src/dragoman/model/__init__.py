"""Plain values that every other package may use. They depend on msgspec only."""
