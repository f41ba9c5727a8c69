"""Running other commands of `eris` from one of them, as a user would."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from eris.errors import UnavailableError


def run_eris(*arguments: str, environ: Mapping[str, str], out: TextIO) -> int:
    """Run ``eris`` with these arguments, its output to ``out``; return its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "eris", *arguments],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=out,
        check=False,
    )
    return done.returncode


def start_system(vault: Path, environ: Mapping[str, str], out: TextIO) -> None:
    """Run ``eris up`` for a vault.

    Raises:
        UnavailableError: It failed; what it said is in ``out`` and on standard error.
    """
    code = run_eris("up", "--vault", str(vault), environ=environ, out=out)
    if code:
        raise UnavailableError(
            f"Eris couldn't be started for the vault {vault} (exit code {code}).",
            hint="See what it said above, and `eris doctor`.",
        )
