"""Where a model that is set up lies and is noted, and what the hub is told."""

import os
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.client_config import client_environment
from cloxy_core.core_settings import LLM_CONFIG, MODEL_FILE, data_directory, load_settings


@dataclass(frozen=True, slots=True)
class Places:
    """What the settings say.

    Attributes:
        data_dir: the data directory; it need not exist.
        config: the file with the choice; it need not exist.
        endpoint: HF_ENDPOINT; empty for Hugging Face.
        token: HF_TOKEN; empty for none.
        server_key: CLOXY_LLM_API_KEY; empty for none.
    """

    data_dir: Path
    config: Path
    endpoint: str
    token: str
    server_key: str


def find_places() -> Places:
    """Read the settings.

    Raises:
        SettingError: a value cannot be used.
        ClientError: `client.env` cannot be read.
    """
    settings = load_settings(os.environ)
    data_dir = data_directory(settings).absolute()
    environment, _ = client_environment(os.environ, data_dir)
    return Places(
        data_dir=data_dir,
        config=(settings[LLM_CONFIG] or data_dir / MODEL_FILE).absolute(),
        endpoint=environment.get("HF_ENDPOINT", "").strip(),
        token=environment.get("HF_TOKEN", "").strip(),
        server_key=environment.get("CLOXY_LLM_API_KEY", "").strip(),
    )
