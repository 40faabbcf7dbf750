"""The care of session files whose rows name the row that they follow, as those of Claude Code and Qwen Code do."""
