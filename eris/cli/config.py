"""`eris config`: show, check and change settings."""

import os
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import msgspec

from eris.cli.failure import EXIT_FAILURE, EXIT_OK
from eris.cli.invocation import Invocation, example, json_option, pass_invocation, vault_option
from eris.config import (
    KEYS,
    YOURS_ALONE,
    Candidate,
    ConfigurationWarning,
    Layer,
    LoadedSettings,
    Origin,
    check_value,
    load_settings,
    nearest_key,
    user_file,
    value_of,
    vault_file,
)
from eris.errors import ConfigurationError, InvalidError, StorageError
from eris.toml_text import set_key

TEMPLATE = """\
# Settings of Eris; docs/configuration.md explains each. Only what differs needs to be here.
# See all with: eris config show --origin
"""


@example("eris config show --origin")
@click.group()
def config() -> None:
    """Show, check and change settings.

    A value comes from a flag (--set), else the environment (ERIS_...), else the vault's
    .eris/config.toml, else your own config.toml, else the default.
    """


def _vault_if_any(invocation: Invocation) -> Path | None:
    try:
        return invocation.vault()
    except ConfigurationError:
        return None


def _load(invocation: Invocation) -> LoadedSettings:
    return load_settings(_vault_if_any(invocation), invocation.environ, invocation.overrides)


def _warn(warnings: tuple[ConfigurationWarning, ...]) -> None:
    for warning in warnings:
        click.echo(f"warning: {warning.message} {warning.hint}", err=True)


def _supervisor_warnings(invocation: Invocation) -> tuple[ConfigurationWarning, ...]:
    from eris.supervisor import specification  # noqa: PLC0415 - only `validate` needs it

    named = invocation.environ.get("ERIS_CONFIG")
    loaded = specification.load(Path(named) if named else None, invocation.environ)
    hint = "Correct or remove it: docs/supervision.md"
    return tuple(
        ConfigurationWarning(key="", message=words, hint=hint) for words in loaded.warnings
    )


def _known(key: str) -> str:
    if key not in KEYS:
        near = nearest_key(key)
        raise InvalidError(
            f"The setting {key} is unknown.",
            hint=f"Did you mean {near}?" if near else "See all with: eris config show",
        )
    return key


def toml_value(value: object) -> str:
    """Return a value as TOML text."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    # JSON's text, numbers and booleans are TOML too.
    return msgspec.json.encode(value).decode()


@example("eris config show --origin")
@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@json_option
@vault_option
@pass_invocation
def show(invocation: Invocation, origin: bool, as_json: bool) -> None:
    """Print every setting."""
    loaded = _load(invocation)
    values = {key: value_of(loaded.settings, key) for key in KEYS}
    if as_json:
        rows = {
            key: {"value": value, "origin": loaded.origins[key]} if origin else value
            for key, value in values.items()
        }
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))
        return
    width = max(map(len, KEYS))
    for key, value in values.items():
        text = f"{key:<{width}} = {toml_value(value)}"
        click.echo(f"{text:<{width + 30}}  # {loaded.origins[key]}" if origin else text)
    _warn(loaded.warnings)


@example("eris config get model.chat")
@config.command()
@click.argument("key")
@json_option
@vault_option
@pass_invocation
def get(invocation: Invocation, key: str, as_json: bool) -> None:
    """Print one setting."""
    value = value_of(_load(invocation).settings, _known(key))
    if as_json or not isinstance(value, str):
        click.echo(toml_value(value))
    else:
        click.echo(value)


def _target(invocation: Invocation, for_user: bool) -> Path:
    return user_file(invocation.environ) if for_user else vault_file(invocation.vault())


@example("eris config set model.chat smollm2-135m")
# A value may begin with a minus sign.
@config.command(name="set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@click.option("--user", "for_user", is_flag=True, help="For all vaults, in your own config.toml.")
@vault_option
@pass_invocation
def set_value(invocation: Invocation, key: str, value: str, for_user: bool) -> None:
    """Set one setting in the vault's file (or, with --user, in your own).

    Running processes take it when they're restarted.
    """
    checked = check_value(Candidate(_known(key), value, Origin(Layer.FLAG, "the command line")))
    if key in YOURS_ALONE and not for_user:
        raise InvalidError(
            f"A vault's own file can't set {key}.", hint=f"Set it for yourself: --user {key}"
        )
    path = _target(invocation, for_user)
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else TEMPLATE
        changed = set_key(text, key, toml_value(checked))
        tomllib.loads(changed)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(changed, encoding="utf-8")
        temporary.replace(path)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{path} isn't valid TOML: {error}.", hint="Correct it first: eris config edit"
        ) from error
    except OSError as error:
        raise StorageError(
            f"{path} can't be written: {error.strerror}.", hint="Check its permissions."
        ) from error
    click.echo(f"{key} = {toml_value(checked)}  ({path})")


@example("eris config path")
@config.command()
@json_option
@vault_option
@pass_invocation
def path(invocation: Invocation, as_json: bool) -> None:
    """Print the settings files, the stronger first."""
    vault = _vault_if_any(invocation)
    files = {"vault": vault_file(vault)} if vault else {}
    files["user"] = user_file(invocation.environ)
    if as_json:
        rows = {
            layer: {"path": str(file), "exists": file.is_file()} for layer, file in files.items()
        }
        click.echo(msgspec.json.encode(rows).decode())
        return
    for layer, file in files.items():
        click.echo(f"{layer:<6} {file}{'' if file.is_file() else '  (not there)'}")


@example("eris config validate")
@config.command()
@json_option
@vault_option
@pass_invocation
def validate(invocation: Invocation, as_json: bool) -> int:
    """Check every settings file, supervisor.toml too, as `eris up` does.

    Exits 0 if all is well, 1 with warnings, 78 with a bad value.
    """
    warnings = (*_load(invocation).warnings, *_supervisor_warnings(invocation))
    if as_json:
        click.echo(msgspec.json.encode({"ok": not warnings, "warnings": warnings}).decode())
    else:
        _warn(warnings)
        if not warnings:
            click.echo("All settings are valid.")
    return EXIT_FAILURE if warnings else EXIT_OK


@example("EDITOR=nano eris config edit --user")
@config.command()
@click.option("--user", "for_user", is_flag=True, help="Edit your own config.toml.")
@vault_option
@pass_invocation
def edit(invocation: Invocation, for_user: bool) -> int:
    """Open a settings file in $EDITOR, then check it."""
    file = _target(invocation, for_user)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEMPLATE, encoding="utf-8")
    environ = invocation.environ
    editor = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi")
    try:
        code = subprocess.run([*editor, os.fspath(file)], check=False).returncode
    except OSError as error:
        raise InvalidError(
            f"The editor {editor[0]} can't be started: {error.strerror}.", hint="Set EDITOR."
        ) from error
    _warn(_load(invocation).warnings)
    return EXIT_FAILURE if code else EXIT_OK
