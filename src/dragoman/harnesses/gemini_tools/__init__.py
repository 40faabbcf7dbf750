"""The tools and message parts of Gemini CLI, which the programs that grew out of it use as well."""
