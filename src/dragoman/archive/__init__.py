"""The office for what has been said: reading, converting and accounting for streams and files."""
