"""A Markdown transcript."""
