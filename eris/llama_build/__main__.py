"""``python -m eris.llama_build [--check] [--rebuild] [--show]``: see the package."""

import argparse
import os
import sys

from eris.llama_build import BuildError, ensure, flag_sets, key, present_processor, try_installed
from eris.llama_build.wheels import VERSION, cache_folder, installed_version


def main() -> int:
    """Do what the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m eris.llama_build",
        description="Build and install llama-cpp-python for the processor that is here.",
    )
    parser.add_argument("--check", action="store_true", help="only try what is installed")
    parser.add_argument("--rebuild", action="store_true", help="forget the cached wheels first")
    parser.add_argument("--show", action="store_true", help="print cache folder and flags")
    chosen = parser.parse_args()
    if chosen.show:
        processor = present_processor()
        for flags in flag_sets(processor):
            folder = cache_folder(os.environ) / f"{VERSION}-{key(flags, processor)}"
            sys.stdout.write(f"{folder}\t{' '.join(flags)}\n")
        return 0
    if chosen.check:
        trial = try_installed()
        outcome = "runs here" if trial.runs else f"doesn't run here: {trial.problem}"
        sys.stdout.write(f"llama-cpp-python {installed_version() or '(not installed)'} {outcome}\n")
        return 0 if trial.runs else 1
    try:
        ensure(_say, rebuild=chosen.rebuild)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


if __name__ == "__main__":
    sys.exit(main())
