"""The Gemini wire: ``streamGenerateContent``, as the Gemini CLI speaks it."""
