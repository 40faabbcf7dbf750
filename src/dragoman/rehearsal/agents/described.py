"""The agents that take nothing but settings and variables: Gemini, Copilot, Qwen and opencode.

Each knows no model but the stand-in one, allows everything without asking, and is kept from statistics, updates,
downloads and lists of models. What a script sets wins over what is here.
"""

from __future__ import annotations

from dragoman.rehearsal.agents.setup import DescribedAgent

_HOME = {"HOME": "{home}", "TMPDIR": "{home}/tmp"}

GEMINI = DescribedAgent(
    name="gemini",
    model="gemini-2.5-flash",
    models=("gemini",),
    file=".gemini/settings.json",
    settings={
        # Without a chosen way to sign in, a base URL makes it one that is refused without a terminal.
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        # Without a model, another one is asked which to take.
        "model": {"name": "{model}"},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": "{attempts}",
        },
        # Without a terminal, tools that would ask are taken away; these do not ask.
        "tools": {
            "allowed": ["run_shell_command", "write_file", "replace", "write_todos", "web_fetch"]
        },
        "ui": {"showStatusInTitle": False},
    },
    environment={
        "GEMINI_CLI_HOME": "{home}",
        "GEMINI_API_KEY": "sk-rehearsal-0000",
        "GOOGLE_GEMINI_BASE_URL": "{root}",
        "GEMINI_MODEL": "{model}",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    places=_HOME,
    elsewhere=("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "SANDBOX"),
)
COPILOT = DescribedAgent(
    name="copilot",
    model="gpt-4.1",
    models=("gpt-4",),
    file=".copilot/settings.json",
    settings={},
    environment={
        "COPILOT_HOME": "{home}/.copilot",
        # It unpacks itself once, 235 MB; every new home would do it again.
        "COPILOT_PKG_CACHE_HOME": "{cache}/copilot",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_ALLOW_ALL": "true",
        "COPILOT_PROVIDER_BASE_URL": "{url}",
        # The key is blotted out of everything that is said, so it must be nothing that could be.
        "COPILOT_PROVIDER_API_KEY": "sk-rehearsal-0000",
        "COPILOT_MODEL": "{model}",
    },
    places=_HOME,
    elsewhere=("COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "GH_TOKEN", "GITHUB_TOKEN"),
)
QWEN = DescribedAgent(
    name="qwen",
    model="qwen3-coder-plus",
    models=("qwen",),
    file=".qwen/settings.json",
    settings={
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "model": {
            "name": "{model}",
            "generationConfig": {"maxRetries": "{retries}"},
        },
        "tools": {"approvalMode": "yolo", "todoWrite": {"enabled": True}},
        # After a turn, it would ask the model what to remember.
        "memory": {"enableManagedAutoMemory": False},
    },
    environment={
        "QWEN_HOME": "{home}/.qwen",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        "OPENAI_API_KEY": "sk-rehearsal-0000",
        "OPENAI_BASE_URL": "{url}",
        "OPENAI_MODEL": "{model}",
    },
    places=_HOME,
    elsewhere=("DASHSCOPE_API_KEY", "QWEN_MODEL", "QWEN_SANDBOX"),
)
OPENCODE = DescribedAgent(
    name="opencode",
    model="stand-in",
    models=("stand-in",),
    file=".config/opencode/opencode.json",
    settings={
        "model": "rehearsal/{model}",
        "small_model": "rehearsal/{model}",
        "enabled_providers": ["rehearsal"],
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "allow"},
        "provider": {
            "rehearsal": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Rehearsal",
                "options": {"baseURL": "{url}", "apiKey": "sk-rehearsal-0000"},
                "models": {
                    "{model}": {
                        "name": "Stand-in",
                        "reasoning": True,
                        "limit": {"context": 128_000, "output": 8_000},
                    }
                },
            }
        },
    },
    environment={
        "OPENCODE_CONFIG": "{home}/.config/opencode/opencode.json",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        "XDG_CONFIG_HOME": "{home}/.config",
        "XDG_DATA_HOME": "{home}/.local/share",
        "XDG_STATE_HOME": "{home}/.local/state",
        "XDG_CACHE_HOME": "{home}/.cache",
        # It looks for a plug-in of its own in the registry of packages; this one has none.
        "npm_config_registry": "{root}/npm/",
        "npm_config_fetch_retries": "0",
    },
    places=_HOME,
    elsewhere=("OPENCODE_CONFIG_CONTENT", "OPENCODE_PERMISSION"),
)
