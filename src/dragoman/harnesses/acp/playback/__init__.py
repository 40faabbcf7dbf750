"""A fake agent that plays a recording over ACP."""
