"""List what the lines of Codex contain, value by value, to check that none is lost.

``values`` takes a line apart and says in which forms each value may be emitted; ``unsaid`` lists by name what
no message repeats, and why.
"""
