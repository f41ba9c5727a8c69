"""The real embedding model for tests, where it is on this machine."""

import os
from pathlib import Path

import pytest

from eris.errors import NotFoundError
from eris.models.store import ModelStore
from eris.paths import models_folder

NAME = "minilm-l6-v2-int8"


def embedding_folder() -> Path:
    """Return the folder of the embedding model, or skip the test."""
    try:
        return ModelStore(models_folder(os.environ)).path(NAME)
    except NotFoundError as error:
        pytest.skip(f"{error.message} {error.hint}")
