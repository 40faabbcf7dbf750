"""Playing Qwen Code from a recording: its stream-json, with and without the control protocol."""
