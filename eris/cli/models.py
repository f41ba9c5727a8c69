"""`eris models`: list, download, check and remove models."""

import sys

import click
import msgspec

from eris.cli.failure import EXIT_FAILURE, EXIT_OK
from eris.cli.invocation import Invocation, example, json_option, pass_invocation
from eris.models import ModelEntry, ModelStatus, ModelStore, Plan, Presence, megabytes
from eris.models.gguf import read_header
from eris.models.progress import ProgressLines
from eris.paths import models_folder


@example("eris models list", "eris models pull qwen3-4b", "eris models rm qwen3-4b")
@click.group()
def models() -> None:
    """List, download, check and remove models.

    Models are shared by all vaults. Any GGUF file works too: set model.chat to its path.
    """


def _store(invocation: Invocation) -> ModelStore:
    return ModelStore(models_folder(invocation.environ), environ=invocation.environ)


def _document(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _size(entry: ModelEntry) -> str:
    if entry.bytes is not None:
        return megabytes(entry.bytes)
    return "?" if entry.about_bytes is None else f"~{megabytes(entry.about_bytes)}"


def _row(status: ModelStatus) -> dict[str, object]:
    entry = status.entry
    return {
        "name": entry.name,
        "use": entry.use,
        "presence": status.presence,
        "default": entry.default,
        "licence": entry.licence,
        "context": entry.context,
        "bytes": entry.bytes,
        "about_bytes": entry.about_bytes,
        "bytes_here": status.bytes_here,
        "description": entry.description,
    }


@example("eris models list", "eris models list --json")
@models.command(name="list")
@json_option
@pass_invocation
def list_models(invocation: Invocation, as_json: bool) -> None:
    """Show every model that has a name, and whether it is here."""
    rows = _store(invocation).list()
    if as_json:
        _document([_row(status) for status in rows])
        return
    width = max(len(status.entry.name) for status in rows)
    for status in rows:
        entry = status.entry
        mark = {Presence.PRESENT: "here", Presence.PARTIAL: "in part"}.get(status.presence, "")
        use = f"{entry.use}{' (default)' if entry.default else ''}"
        click.echo(
            f"{entry.name:<{width}}  {use:<19}  {_size(entry):>8}  "
            f"{entry.context:>6} tokens  {entry.licence:<10}  {mark}".rstrip()
        )
        click.echo(f"{'':<{width}}  {entry.description}")


@example("eris models pull qwen2.5-coder-0.5b", "eris models pull default --yes")
@models.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Don't ask before downloading.")
@click.option("--dry-run", is_flag=True, help="Only say what would be downloaded.")
@json_option
@pass_invocation
def pull(
    invocation: Invocation, names: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Download models. Licence and size are said first; what arrives is verified.

    An interrupted download goes on where it stopped. `default` stands for the models that are
    used when the settings name none.
    """
    store = _store(invocation)
    defaults = [entry.name for entry in store.entries if entry.default]
    wanted = [each for name in names for each in (defaults if name == "default" else [name])]
    plans = [store.plan(name) for name in wanted]
    for plan in plans:
        click.echo(plan.sentence, err=True)
    missing = [plan for plan in plans if plan.missing]
    asks = missing and not (yes or dry_run or as_json) and sys.stdin.isatty()
    if asks:
        click.confirm("Download?", default=True, abort=True, err=True)
    if not dry_run:
        for plan in missing:
            _pull_one(store, plan)
    if as_json:
        _document([_pulled(store, plan, dry_run) for plan in plans])


def _pull_one(store: ModelStore, plan: Plan) -> None:
    lines = ProgressLines(sys.stderr)
    try:
        path = store.pull(plan.entry.name, progress=lines, plan=plan)
    finally:
        lines.close()
    click.echo(f"{plan.entry.name} is ready: {path}", err=True)


def _pulled(store: ModelStore, plan: Plan, dry_run: bool) -> dict[str, object]:
    return {
        "name": plan.entry.name,
        "licence": plan.entry.licence,
        "bytes_missing": plan.bytes_missing,
        "path": str(plan.folder if dry_run else store.path(plan.entry.name)),
    }


@example("eris models rm smollm2-135m")
@models.command()
@click.argument("name")
@json_option
@pass_invocation
def rm(invocation: Invocation, name: str, as_json: bool) -> None:
    """Delete a model from this machine."""
    freed = _store(invocation).remove(name)
    if as_json:
        _document({"name": name, "bytes_freed": freed})
    else:
        click.echo(f"{name} is removed; {megabytes(freed)} freed.")


@example("eris models path qwen2.5-coder-0.5b", "eris models path ~/Downloads/model.gguf --json")
@models.command()
@click.argument("name")
@json_option
@pass_invocation
def path(invocation: Invocation, name: str, as_json: bool) -> None:
    """Print where a model is; with --json also what its file says about itself."""
    there = _store(invocation).path(name)
    if not as_json:
        click.echo(str(there))
        return
    document: dict[str, object] = {"name": name, "path": str(there)}
    if there.is_file():
        header = read_header(there)
        document |= {
            "architecture": header.architecture,
            "context": header.context_length,
            "has_chat_template": header.chat_template is not None,
        }
    _document(document)


@example("eris models verify qwen2.5-coder-0.5b")
@models.command()
@click.argument("name")
@json_option
@pass_invocation
def verify(invocation: Invocation, name: str, as_json: bool) -> int:
    """Compare a model's files with their digests. Exits 1 if one is damaged."""
    verdicts = _store(invocation).verify(name)
    if as_json:
        _document(verdicts)
    else:
        for verdict in verdicts:
            click.echo(f"{verdict.file}: {'ok' if verdict.ok else verdict.problem}")
        if not all(verdict.ok for verdict in verdicts):
            click.echo(f"Get it anew: eris models rm {name} && eris models pull {name}")
    return EXIT_OK if all(verdict.ok for verdict in verdicts) else EXIT_FAILURE
