"""What an audit knows about the lines that make no message of their own."""
