"""List what the lines of Codex contain, value by value, to check that none is lost.

``values`` takes a line apart and lists the forms in which each value may be emitted; ``unsaid`` lists by name what
no message repeats, and why.
"""
