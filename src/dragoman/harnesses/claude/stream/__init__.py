"""What ``claude -p --output-format stream-json`` prints, and what it is sent."""
