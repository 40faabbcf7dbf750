"""Turns any stream or file into messages: decompression, dialect detection, growing files, conversion."""
