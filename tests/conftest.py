"""Fixtures for every kind of test."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support import Processes, processes

# A background job of a shell ignores these, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Two noisy cores: a slow example is no defect.
settings.register_profile("eris", deadline=None, max_examples=25)
# For `make fuzz`: as long as it takes.
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("eris")


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[Processes]:
    """A vault with a running bus and nothing else."""
    with processes(tmp_path) as group:
        group.start("bus")
        yield group
