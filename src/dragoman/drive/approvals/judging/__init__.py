"""Judge a request by rules: a single rule, the directory, commands and edits."""
