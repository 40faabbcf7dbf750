"""What the writers of native sessions share: the conversation as it is now, edits, tools as text, losses."""
