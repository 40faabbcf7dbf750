"""Dragoman as an MCP server: saved sessions as read-only tools for any agent."""
