"""What ``qwen -o stream-json`` prints."""
