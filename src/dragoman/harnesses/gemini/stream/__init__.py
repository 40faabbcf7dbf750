"""What ``gemini -o stream-json -p`` prints."""
