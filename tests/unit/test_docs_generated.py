"""The pages made from the code are up to date."""

import subprocess
import sys

from tests.support import REPOSITORY


def test_generated_pages_are_up_to_date() -> None:
    run = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
