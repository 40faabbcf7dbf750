"""The OpenAI chat wire: chat completions, as Copilot, Qwen and opencode speak them to a model of one's own."""
