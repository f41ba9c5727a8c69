"""The command `erisd`: the supervisor of one vault, in the foreground."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from eris.config import load_settings
from eris.errors import ConfigurationError, ConflictError, ErisError
from eris.locks import HeldLock
from eris.logs import start_logging
from eris.paths import Paths, find_vault, paths_for
from eris.supervisor import launch, specification
from eris.supervisor.child import EXIT_CONFIGURATION
from eris.supervisor.control import NAME
from eris.supervisor.daemon import Supervisor
from eris.supervisor.specification import ChildSpecification, Specification

_EXIT_FAILURE = 1

LEVELS = ("debug", "info", "warning", "error")


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n  erisd --vault ~/notes\n  erisd --vault ~/notes --background",
)
@click.option(
    "--vault",
    metavar="PATH",
    help="The vault to serve (default: ERIS_VAULT, or the one around this folder).",
)
@click.option(
    "--config",
    metavar="PATH",
    help="Folder with supervisor.toml and config.toml, or the latter (default: ERIS_CONFIG).",
)
@click.option(
    "--foreground/--background", default=True, help="Stay in the foreground (the default)."
)
@click.option("--log-level", type=click.Choice(LEVELS), help="Least important messages to log.")
@click.option("--offline", is_flag=True, help="Don't start what reaches other machines.")
def erisd(
    vault: str | None, config: str | None, foreground: bool, log_level: str | None, offline: bool
) -> None:
    """Start, watch, adopt, restart and stop the processes of one vault.

    Children that an earlier supervisor left running are adopted, not started again. SIGTERM or
    Ctrl-C stops everything in order. Most people use `eris up` and `eris down` instead.
    """
    environ = dict(os.environ)
    if config is not None:
        environ["ERIS_CONFIG"] = str(Path(config).expanduser().absolute())
    if log_level is not None:
        environ["ERIS_LOG_LEVEL"] = log_level
    if offline:
        environ["ERIS_OFFLINE"] = "1"
    paths = paths_for(find_vault(vault, environ, Path.cwd()), environ)
    if foreground:
        serve(paths, environ)
    else:
        launch.start_detached(paths, environ)


def serve(paths: Paths, environ: dict[str, str]) -> None:
    """Supervise a vault until told to stop.

    Raises:
        ConfigurationError: ``supervisor.toml`` is bad, or a directory can't be used.
        ConflictError: Another supervisor serves the vault.
    """
    os.umask(0o077)
    configuration = environ.get("ERIS_CONFIG")
    loaded = specification.load(Path(configuration) if configuration else None, environ)
    paths.create()
    with _lock(paths) as lock:
        logger = start_logging(NAME, paths.logs, _log_level(paths, environ))
        for warning in loaded.warnings:
            logger.warning("configuration", words=warning)
            sys.stderr.write(f"{NAME}: {warning}\n")
        if environ.get("ERIS_OFFLINE", "") not in {"", "0"}:
            loaded = _offline(loaded)
        logger.info("started", pid=os.getpid(), vault=str(paths.vault))
        try:
            Supervisor(paths, lock, loaded, environ, logger).run()
        except Exception:
            logger.exception("supervisor-failed")
            raise
    _remove_if_empty(paths.runtime)


def _lock(paths: Paths) -> HeldLock:
    try:
        return HeldLock.acquire(paths.lock(NAME))
    except ConflictError as error:
        pid = error.details["pid"]
        raise ConflictError(
            f"The vault {paths.vault} is served by another erisd already: "
            f"{paths.lock(NAME)} is held by pid {pid}.",
            hint=f"See `eris status`; stop it with: eris down --vault {paths.vault}",
            details={"pid": pid},
        ) from error


def _log_level(paths: Paths, environ: dict[str, str]) -> str:
    try:
        return load_settings(paths.vault, environ).settings.log_level
    except ConfigurationError:
        return "info"  # the processes that need the settings say what is wrong with them


def _offline(loaded: Specification) -> Specification:
    children: dict[str, ChildSpecification] = {
        name: child for name, child in loaded.children.items() if not child.network
    }
    return Specification(loaded.settings, children, loaded.warnings)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # something of somebody else is in it


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    try:
        erisd.main(arguments, prog_name=NAME, standalone_mode=False)
    except (ConfigurationError, ConflictError) as error:
        # Neither goes away by starting again: a service stops trying at this code.
        _say(error)
        return EXIT_CONFIGURATION
    except ErisError as error:
        _say(error)
        return _EXIT_FAILURE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return 0


def _say(error: ErisError) -> None:
    sys.stderr.write(f"{NAME}: {f'{error.message} {error.hint}'.strip()}\n")


def main() -> NoReturn:
    """Entry point of the script `erisd`."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
