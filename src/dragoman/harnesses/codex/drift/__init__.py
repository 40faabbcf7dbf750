"""What a release of Codex can send that we do not know: its own schema compared with our tables.

``schema`` reads the names out of a schema, ``comparing`` holds them against what we decode, and against
``reviewed.json``: the names that were in a schema when a person last looked at every one of them.
"""
