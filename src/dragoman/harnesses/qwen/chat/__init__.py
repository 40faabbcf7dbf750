"""The chats that Qwen Code keeps on disk."""
