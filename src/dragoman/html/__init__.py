"""Injection-safe HTML for exported files and for the page."""
