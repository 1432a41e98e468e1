"""Settings of gunicorn, for `gunicorn -c python:apiserver.gunicorn_conf apiserver.asgi:app`.

Gunicorn reads its settings from the names of this module, so this is the one module whose import
has effects: it reads the configuration from the environment and prepares the data folder.
`apiserver serve` calls `apiserver.process.serving.gunicorn_settings` and does not import this.
"""

import os
import sys
from datetime import UTC, datetime

from apiserver.auth.token_keys import InvalidSigningKey
from apiserver.config import ServerConfigError, load_config
from apiserver.process.data_dir import DataDirError
from apiserver.process.data_folder import prepare, token_keys
from apiserver.process.serving import gunicorn_settings

try:
    _config = load_config(os.environ)
    _settings = gunicorn_settings(_config, prepare(_config, now=datetime.now(UTC)))
    token_keys(_config)
except (ServerConfigError, DataDirError, InvalidSigningKey) as error:
    sys.exit(f"apiserver: {error}")

globals().update(_settings)
