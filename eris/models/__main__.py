"""``python -m eris.models pull NAME...``: what the Makefile needs before anything else works.

``default`` stands for the models that are used when the settings name none. People use
``eris models``.
"""

import os
import sys
from collections.abc import Sequence

from eris.errors import ErisError
from eris.models import ModelStore
from eris.models.progress import ProgressLines
from eris.paths import models_folder

_USAGE = "usage: python -m eris.models pull NAME... (or `default`)\n"


def main(arguments: Sequence[str]) -> int:
    """Pull the named models; returns the exit code."""
    if len(arguments) < 2 or arguments[0] != "pull":  # noqa: PLR2004  (a verb and a name)
        sys.stderr.write(_USAGE)
        return 2
    store = ModelStore(models_folder(os.environ))
    names: list[str] = []
    for name in arguments[1:]:
        if name == "default":
            names += [entry.name for entry in store.entries if entry.default]
        else:
            names.append(name)
    lines = ProgressLines(sys.stderr)
    for name in names:
        try:
            plan = store.plan(name)
            sys.stderr.write(f"{plan.sentence}\n")
            store.pull(name, progress=lines, plan=plan)
        except ErisError as error:
            lines.close()
            sys.stderr.write(f"{error.message} {error.hint}\n")
            return 1
        lines.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
