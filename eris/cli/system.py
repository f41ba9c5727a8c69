"""Commands about the running system: up, down, status, restart, logs, install-service."""

import secrets
import sys
import time

import click
import msgspec

from eris.cli.failure import EXIT_FAILURE, EXIT_OK
from eris.cli.invocation import (
    Invocation,
    example,
    json_option,
    pass_invocation,
    vault_option,
)
from eris.cli.system_view import Progress, problems, show_log, show_status
from eris.errors import NotFoundError, UnavailableError
from eris.locks import holder
from eris.paths import Paths
from eris.supervisor import control, launch
from proto.control import Done
from proto.supervisor import Restart, Shutdown, Status, StatusReport

_ASK_S = 5.0
_POLL_S = 0.05


@example("eris up --vault ~/notes", "eris up --offline")
@click.command()
@click.option("--offline", is_flag=True, help="Don't start what reaches other machines.")
@click.option(
    "--timeout", default=300.0, show_default=True, metavar="SECONDS", help="How long to wait."
)
@click.option("--no-wait", is_flag=True, help="Don't wait until everything is ready.")
@json_option
@vault_option
@pass_invocation
def up(
    invocation: Invocation, *, offline: bool, timeout: float, no_wait: bool, as_json: bool
) -> int:
    """Start the system of a vault and wait until it's ready.

    Harmless if it runs already. Processes that outlived their supervisor are taken over with all
    they have in memory.
    """
    paths = invocation.paths()
    already = holder(paths.lock(control.NAME))
    process = None
    if not already:
        # Said once and here, rather than by every process on its own.
        for warning in invocation.settings().warnings:
            click.echo(f"warning: {warning.message} {warning.hint}", err=True)
        options = ["--offline"] if offline else []
        process = launch.start_detached(paths, invocation.child_environment(), options)
    if no_wait:
        _say({"ok": True, "pid": already or (process.pid if process else 0)}, as_json=as_json)
        return EXIT_OK
    with Progress(shown=sys.stderr.isatty() and not as_json) as progress:
        report = launch.wait_until_up(paths, process, timeout, progress.show)
    for complaint in launch.complaints(paths) if process is not None else ():
        click.echo(complaint, err=True)
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        adopted = sum(actor.adopted for actor in report.actors)
        verb = "Already up" if already else "Up"
        kept = f", {adopted} of them kept running" if adopted and not already else ""
        running = sum(actor.pid != 0 for actor in report.actors)
        click.echo(f"{verb}: {running} processes for {report.vault}{kept} (pid {report.pid}).")
        problems(report)
    return EXIT_OK if report.state == "ready" else EXIT_FAILURE


@example("eris down --vault ~/notes")
@click.command()
@click.option(
    "--timeout", default=120.0, show_default=True, metavar="SECONDS", help="How long to wait."
)
@json_option
@vault_option
@pass_invocation
def down(invocation: Invocation, *, timeout: float, as_json: bool) -> int:
    """Stop the system of a vault: everything is saved, then ended, in order."""
    paths = invocation.paths()
    pid = holder(paths.lock(control.NAME))
    if not pid:
        # Processes may have outlived their supervisor. One that takes them over can stop them.
        if not _left_behind(paths):
            _say({"ok": True, "stopped": False}, f"Not running: {paths.vault}.", as_json=as_json)
            return EXIT_OK
        process = launch.start_detached(paths, invocation.child_environment())
        launch.wait_until_up(paths, process, timeout, answering=True)
    control.request(paths, Shutdown(), Done, within=_ASK_S)
    until = time.monotonic() + timeout
    while holder(paths.lock(control.NAME)):
        if time.monotonic() > until:
            raise UnavailableError(
                f"The supervisor (pid {pid}) is still stopping after {timeout:g} s.",
                hint="See `eris status`; wait longer with --timeout.",
            )
        time.sleep(_POLL_S)
    _say({"ok": True, "stopped": True}, f"Stopped: {paths.vault}.", as_json=as_json)
    return EXIT_OK


@example("eris status", "eris status --json --vault ~/notes")
@click.command()
@json_option
@vault_option
@pass_invocation
def status(invocation: Invocation, *, as_json: bool) -> int:
    """Show every process: pid, state, restarts, uptime, memory, queues and what was dropped.

    Exits 0 if all are ready, 1 if one isn't, 2 if the system doesn't run.
    """
    report = control.request(invocation.paths(), Status(), StatusReport, within=_ASK_S)
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        show_status(report)
    return EXIT_OK if report.state == "ready" else EXIT_FAILURE


@example("eris restart router", "eris restart memory --json")
@click.command()
@click.argument("name")
@click.option(
    "--timeout", default=300.0, show_default=True, metavar="SECONDS", help="How long to wait."
)
@json_option
@vault_option
@pass_invocation
def restart(invocation: Invocation, name: str, *, timeout: float, as_json: bool) -> int:
    """Restart the process NAME and wait until it's ready. The others go on working."""
    paths = invocation.paths()
    before = time.monotonic()
    body = Restart(name=name, idem=secrets.token_hex(8))
    report = control.request(paths, body, StatusReport, within=timeout)
    took = time.monotonic() - before
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        actor = next(actor for actor in report.actors if actor.name == name)
        click.echo(f"{name} is {actor.state} again (pid {actor.pid}, {took:.1f} s).")
    return EXIT_OK


@example("eris logs router", "eris logs inference -f -n 100")
@click.command()
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is being written.")
@click.option("-n", "--lines", default=40, show_default=True, help="How many lines.")
@click.option(
    "--output", is_flag=True, help="Show what it wrote to its terminal, such as a crash, instead."
)
@vault_option
@pass_invocation
def logs(invocation: Invocation, name: str, *, follow: bool, lines: int, output: bool) -> int:
    """Show the log of the process NAME (erisd, bus, inference and so on)."""
    folder = invocation.paths().logs
    file = folder / f"{name}.{'out' if output else 'log'}"
    if not file.is_file():
        known = sorted({found.stem for found in folder.glob("*.log")})
        raise NotFoundError(
            f"There is no log of {name!r} in {folder}.",
            hint=f"There are: {', '.join(known)}." if known else "Nothing has run yet: eris up",
        )
    show_log(file, lines=lines, follow=follow)
    return EXIT_OK


@example("eris install-service --dry-run", "eris install-service --vault ~/notes")
@click.command("install-service")
@click.option("--dry-run", is_flag=True, help="Print what would be written.")
@json_option
@vault_option
@pass_invocation
def install_service(invocation: Invocation, *, dry_run: bool, as_json: bool) -> int:
    """Write a service unit that starts the system of a vault at login.

    A systemd user unit on Linux, a LaunchAgent on macOS. It's written, not enabled: the command
    that does that is printed.
    """
    from eris.cli import service  # noqa: PLC0415 - only this command needs it

    unit = service.unit_for(
        invocation.paths(), sys.executable, invocation.environ, macos=sys.platform == "darwin"
    )
    if not dry_run:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_text(unit.text, encoding="utf-8")
    if as_json:
        document = {"ok": True, "path": str(unit.path), "written": not dry_run, "text": unit.text}
        click.echo(msgspec.json.encode(document))
    elif dry_run:
        click.echo(f"# {unit.path}\n{unit.text}", nl=False)
    else:
        click.echo(f"Written: {unit.path}\nEnable it with: {unit.enable}")
    return EXIT_OK


def _left_behind(paths: Paths) -> bool:
    """Whether processes of this vault run although their supervisor is gone."""
    return any(holder(lock) for lock in paths.runtime.glob("*.lock"))


def _say(document: dict[str, object], sentence: str = "", *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(document))
    elif sentence:
        click.echo(sentence)
