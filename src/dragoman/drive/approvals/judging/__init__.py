"""How a request is held against rules: one rule, what is known of the place, commands, edits."""
