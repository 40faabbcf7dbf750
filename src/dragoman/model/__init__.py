"""The foundation: plain values that every other room may use, and that use nothing but msgspec."""
