"""The small real model that the tests use."""

import os
from pathlib import Path

import pytest

from eris.models.store import ModelStore
from eris.paths import models_folder


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Path of SmolLM2-135M-Instruct; get it with ``eris models pull smollm2-135m``."""
    return ModelStore(models_folder(os.environ)).path("smollm2-135m")
