"""What `make run` does without a terminal, with the default model."""

import os
import subprocess
import sys

import pytest

from eris.models.store import ModelStore, Presence
from eris.paths import models_folder

pytestmark = pytest.mark.model

DEFAULTS = ("qwen2.5-coder-0.5b", "minilm-l6-v2-int8")
PROCESSES = ("router", "gatekeeper", "inference", "vault", "orchestrator", "erisd")


@pytest.fixture(scope="module")
def here():
    known = {status.entry.name: status for status in ModelStore(models_folder(os.environ)).list()}
    for name in DEFAULTS:
        if known[name].presence is not Presence.PRESENT:
            pytest.skip(f"needs the model {name}: eris models pull default")


def test_the_first_run_saves_the_note_and_says_what_each_process_did(here, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "eris.cli.first_run"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in PROCESSES:
        assert f"\n{name} " in done.stdout
    assert "milk" in done.stdout.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
