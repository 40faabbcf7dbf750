"""What a release of Codex can say that we do not know: its own schema against our tables.

``schema`` reads the names out of a schema, ``comparing`` holds them against what we decode, and against
``reviewed.json``: the names that were in a schema when a person last looked at every one of them.
"""
