"""The agents that tests drive: their packages, settings, command lines, and where their sessions lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from chainviz.core.formats.agents import hand_off

PORT = 8080
"""Each run has a network of its own."""
_URL = f"http://127.0.0.1:{PORT}"
_MODEL = {
    "id": "m", "name": "m", "reasoning": False, "input": ["text"], "contextWindow": 128_000, "maxTokens": 4_096,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
}  # fmt: skip


@dataclass(frozen=True)
class Agent:
    name: str
    package: str
    version: str
    program: str
    """The program's file, inside `node_modules`."""
    first: tuple[str, ...]
    """Arguments that begin a session; the prompt follows."""
    resumed: tuple[str, ...]
    """Arguments that go on with the last session."""
    sessions: str
    """A pattern of the session files in the home folder."""
    node: str = ""
    """The version of Node.js that the program needs; "" for that of the machine."""
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Files of the home folder, by their paths."""


_CODEX = f"""model = "m"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.local]
name = "local"
base_url = "{_URL}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
_PI = {"providers": {"local": {"baseUrl": f"{_URL}/v1", "api": "openai-completions", "apiKey": "none", "models": [_MODEL]}}}
_GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}  # fmt: skip

QWEN = Agent(
    name="Qwen Code",
    package="@qwen-code/qwen-code",
    version=hand_off.QWEN_CODE,
    program=".bin/qwen",
    first=("--auth-type", "openai", "--yolo", "-p"),
    resumed=("--auth-type", "openai", "--yolo", "--continue", "-p"),
    sessions=".qwen/projects/*/chats/*.jsonl",
    environment={"OPENAI_BASE_URL": f"{_URL}/v1", "OPENAI_MODEL": "m"},
)
GEMINI = Agent(
    name="Gemini CLI",
    package="@google/gemini-cli",
    version=hand_off.GEMINI_CLI,
    program=".bin/gemini",
    first=("--yolo", "--skip-trust", "-p"),
    resumed=("--yolo", "--skip-trust", "--resume", "latest", "-p"),
    sessions=".gemini/tmp/*/chats/*.jsonl",
    environment={"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": _URL, "GEMINI_MODEL": "gemini-2.5-pro"},
    settings={".gemini/settings.json": json.dumps(_GEMINI)},
)
CODEX = Agent(
    name="Codex",
    package="@openai/codex",
    version=hand_off.CODEX,
    program=".bin/codex",
    first=("exec", "--skip-git-repo-check"),
    resumed=("exec", "--skip-git-repo-check", "resume", "--last"),
    sessions=".codex/sessions/*/*/*/rollout-*.jsonl",
    settings={".codex/config.toml": _CODEX},
)
PI = Agent(
    name="pi",
    package="@mariozechner/pi-coding-agent",
    version=hand_off.PI,
    program=".bin/pi",
    first=("--provider", "local", "--model", "m", "-p"),
    resumed=("--provider", "local", "--model", "m", "--continue", "-p"),
    sessions=".pi/agent/sessions/*/*.jsonl",
    settings={".pi/agent/models.json": json.dumps(_PI)},
)
KIMI = Agent(
    name="Kimi Code",
    package="@moonshot-ai/kimi-code",
    version=hand_off.KIMI_CODE,
    program="@moonshot-ai/kimi-code/dist/main.mjs",
    first=("-p",),
    resumed=("--continue", "-p"),
    sessions=".kimi-code/sessions/*/*/agents/main/wire.jsonl",
    node="22.23.3",
    environment={
        "KIMI_MODEL_NAME": "m", "KIMI_MODEL_API_KEY": "none", "KIMI_MODEL_BASE_URL": f"{_URL}/v1", "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
    },
)  # fmt: skip
_OPENCODE = {
    "provider": {
        "local": {
            "npm": "@ai-sdk/openai-compatible", "name": "local", "options": {"baseURL": f"{_URL}/v1", "apiKey": "none"},
            "models": {"m": {"name": "m"}},
        }
    },
    "model": "local/m", "small_model": "local/m", "share": "disabled", "autoupdate": False, "permission": {"bash": "allow"},
}  # fmt: skip


def _like_opencode(name: str, package: str, version: str, folder: str) -> Agent:
    prefix = folder.upper()
    return Agent(
        name=name,
        package=package,
        version=version,
        program=f"{package}/bin/{folder}",
        first=("run",),
        resumed=("run", "--continue"),
        sessions=f".local/share/{folder}/{folder}.db",
        environment={f"{prefix}_DISABLE_MODELS_FETCH": "1", f"{prefix}_DISABLE_AUTOUPDATE": "1", f"{prefix}_DISABLE_LSP_DOWNLOAD": "1"},
        settings={f".config/{folder}/{folder}.json": json.dumps(_OPENCODE)},
    )


OPENCODE = _like_opencode("opencode", "opencode-linux-x64-baseline", hand_off.OPENCODE, "opencode")
KILO = _like_opencode("Kilo Code", "@kilocode/cli-linux-x64-baseline", hand_off.KILO, "kilo")
