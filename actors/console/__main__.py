"""``python -m actors.console``: what `eris console` runs."""

import argparse
import os
import sys
from pathlib import Path

from actors.console.plain import run_plain
from eris.config import load_settings
from eris.errors import ConfigurationError, ErisError, UnavailableError
from eris.logs import start_logging
from eris.paths import Paths, find_vault, paths_for
from eris.surface import attach, require_running

EXIT_FAILURE, EXIT_CANNOT_RUN, EXIT_CONFIGURATION, EXIT_INTERRUPTED = 1, 2, 78, 130


def main() -> int:
    """Attach to the running system; return the exit code."""
    parser = argparse.ArgumentParser(prog="eris console")
    parser.add_argument("--session", default="main", help="conversation to join")
    parser.add_argument("--plain", action="store_true", help="lines instead of a screen")
    options = parser.parse_args()
    try:
        paths = paths_for(find_vault(None, os.environ, Path.cwd()), os.environ)
        require_running(paths)
        return _attached(paths, options.session, plain=options.plain)
    except ErisError as error:
        sys.stderr.write(f"eris: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"      {error.hint}\n")
        if isinstance(error, ConfigurationError):
            return EXIT_CONFIGURATION
        return EXIT_CANNOT_RUN if isinstance(error, UnavailableError) else EXIT_FAILURE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _attached(paths: Paths, session: str, *, plain: bool) -> int:
    os.umask(0o077)  # the history holds what was said
    settings = load_settings(paths.vault, os.environ).settings
    start_logging("console", paths.logs, settings.log_level)
    with attach("console", paths, settings) as port:
        drawable = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        if plain or not drawable:
            return run_plain(port, session, sys.stdin, sys.stdout, sys.stderr)
        from actors.console.screen import Screen  # noqa: PLC0415 - not needed without a terminal

        history = paths.state / "console-history"
        Screen(port, session, color=not os.environ.get("NO_COLOR"), history=history).run()
        return 0


if __name__ == "__main__":
    sys.exit(main())
