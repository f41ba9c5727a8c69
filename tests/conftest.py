"""Fixtures for every kind of test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support import Processes, processes

# Two noisy cores: a slow example is no defect.
settings.register_profile("eris", deadline=None)
settings.load_profile("eris")


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[Processes]:
    """A vault with a running bus and nothing else."""
    with processes(tmp_path) as group:
        group.start("bus")
        yield group
