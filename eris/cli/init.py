"""`eris init`: makes a vault, or adopts a folder of notes without touching one of them."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from eris.cli.invocation import Invocation, example, json_option, pass_invocation
from eris.config import Layer, read_file, vault_file
from eris.errors import ConflictError, InvalidError, StorageError
from eris.paths import SETTINGS_FOLDER, paths_for, require_text
from eris.toml_text import set_key
from eris.vault.layout import LAYOUTS, Layout, LayoutName

OBSIDIAN_FOLDER = ".obsidian"

SETTINGS_TEXT = """\
# Settings of this vault. Only what differs from the defaults needs to be here; all of them are in
# docs/configuration.md, and `eris config show --origin` says what is in force and why.
#
# [model]
# chat = "qwen2.5-coder-0.5b"  # a name of `eris models list`, or the path of a GGUF file
#
# [tools]
# denied = ["vault:write"]     # tools that are never used
#
# [vault]
# read_only = ["Archive"]      # folders and notes that Eris only reads
# agent_folder = "Eris"        # for notes of its own, such as memories
"""

_FOLDERS_LOOKED_AT = 20_000
_FROM_A_PARENT = ("ERIS_VAULT_ID", "ERIS_STATE_DIR", "ERIS_RUNTIME_DIR")


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What `init` did."""

    ok: bool = True
    vault: str
    vault_id: str
    obsidian: bool
    """Whether it's a vault of Obsidian too."""
    created: tuple[str, ...]
    """What wasn't there before, relative to the vault; empty if it was a vault already."""
    settings: tuple[str, ...]
    """Keys that were set in the vault's settings."""


@example(
    "eris init ~/notes",
    "eris init ~/Documents/MyObsidianVault",
    "eris init ~/notes --layout numbered",
)
@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", metavar="TEXT", default="", help="What the vault is called on screen.")
@click.option(
    "--layout",
    type=click.Choice([each.value for each in LayoutName]),
    default=LayoutName.PLAIN.value,
    show_default=True,
    help="What a new vault begins with: a note, or numbered folders.",
)
@json_option
@pass_invocation
def init(invocation: Invocation, path: Path, name: str, layout: str, as_json: bool) -> None:
    """Make a vault at PATH, or adopt the folder of notes that is there.

    In an existing folder, an Obsidian vault for instance, only the folder .eris is added; no note
    is touched. Doing it again changes nothing.
    """
    made = make_vault(path, name, invocation.environ, LayoutName(layout))
    if as_json:
        click.echo(msgspec.json.encode(made).decode())
        return
    if not made.created:
        what = f"set {', '.join(made.settings)}" if made.settings else "nothing was changed"
        click.echo(f"{made.vault} is a vault already; {what}.")
    elif made.obsidian:
        click.echo(f"Adopted the Obsidian vault {made.vault}. No note was touched.")
    else:
        click.echo(f"Made the vault {made.vault}.")
    click.echo(f"Next: eris up --vault {shlex.quote(made.vault)}")


def make_vault(
    path: Path, name: str, environ: dict[str, str], layout: LayoutName = LayoutName.PLAIN
) -> Made:
    """Make or adopt a vault.

    Raises:
        InvalidError: ``path`` is a file, or its parent isn't there.
        ConflictError: It's inside another vault, or has one inside; or the folder has something
            else in it than the layout.
        StorageError: It can't be written to.
    """
    vault = Path(os.path.realpath(path.expanduser()))
    _check(vault)
    before = _names(vault)
    if before:
        _check_layout(vault, layout)
    try:
        created, changed = _write(
            vault, name, LAYOUTS[layout], empty=not before - {SETTINGS_FOLDER}
        )
    except OSError as error:
        raise StorageError(
            f"The vault {vault} can't be written to: {error.strerror}.",
            hint="Check its permissions, or choose another folder.",
        ) from error
    own = {key: value for key, value in environ.items() if key not in _FROM_A_PARENT}
    return Made(
        vault=str(vault),
        vault_id=paths_for(vault, own).vault_id,
        obsidian=OBSIDIAN_FOLDER in before,
        created=tuple(str(file.relative_to(vault)) for file in created),
        settings=changed,
    )


def _write(
    vault: Path, name: str, layout: Layout, *, empty: bool
) -> tuple[list[Path], tuple[str, ...]]:
    """Make what isn't there yet; return the files, and the settings that were set."""
    settings = vault_file(vault)
    identity = settings.parent / "id"
    settings.parent.mkdir(parents=True, exist_ok=True)
    created = [file for file in (settings, identity) if not file.exists()]
    if settings in created:
        settings.write_text(SETTINGS_TEXT, encoding="utf-8")
    wanted = _missing_settings(settings, layout)
    if name:
        wanted["vault.name"] = name
    changed = []
    for key, value in wanted.items():
        before = settings.read_text(encoding="utf-8")
        after = set_key(before, key, msgspec.json.encode(value).decode())
        if after != before:
            settings.write_text(after, encoding="utf-8")
            changed.append(key)
    if empty and created:
        for path, content in layout.notes.items():
            note = vault / path
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(content, encoding="utf-8")
            created.append(note)
    return created, tuple(changed)


def _missing_settings(settings: Path, layout: Layout) -> dict[str, object]:
    """What a layout sets and the vault's own file doesn't: what the user set there stays."""
    wanted = dict(layout.changed_settings)
    if wanted:
        for candidate in read_file(Layer.VAULT, settings)[0]:
            wanted.pop(candidate.key, None)
    return wanted


def _check_layout(vault: Path, name: LayoutName) -> None:
    """Refuse a layout that a folder in use hasn't: the notes in it stay where they are."""
    layout = LAYOUTS[name]
    missing = [folder for folder in layout.folders if not (vault / folder).is_dir()]
    if missing:
        raise ConflictError(
            f"{vault} is in use and hasn't these folders of the {name} layout: "
            f"{', '.join(missing)}.",
            hint="Leave out --layout to adopt the folder as it is, or name a new one.",
        )


def _check(vault: Path) -> None:
    require_text(vault)
    if vault.exists() and not vault.is_dir():
        raise InvalidError(f"{vault} is a file.", hint="A vault is a folder; name one.")
    if not vault.parent.is_dir():
        raise InvalidError(
            f"The folder {vault.parent} isn't there.",
            hint=f"Make it first: mkdir -p {shlex.quote(str(vault.parent))}",
        )
    for parent in vault.parents:
        for mark, kind in ((SETTINGS_FOLDER, "vault"), (OBSIDIAN_FOLDER, "Obsidian vault")):
            if (parent / mark).is_dir():
                raise ConflictError(
                    f"{vault} is inside the {kind} {parent}, and vaults can't be nested.",
                    hint=f"Use that one, or a folder outside of {parent}.",
                )
    inner = next(_vaults_inside(vault), None)
    if inner is not None:
        raise ConflictError(
            f"There is a vault inside: {inner}, and vaults can't be nested.",
            hint=f"Use that one, or remove its folder {SETTINGS_FOLDER}.",
        )


def _vaults_inside(vault: Path) -> Iterator[Path]:
    for looked_at, (folder, names, _) in enumerate(os.walk(vault)):
        if looked_at > _FOLDERS_LOOKED_AT:
            return
        if looked_at and SETTINGS_FOLDER in names:
            yield Path(folder)
        names[:] = [name for name in names if not name.startswith(".")]


def _names(vault: Path) -> set[str]:
    try:
        return {entry.name for entry in vault.iterdir()}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise StorageError(
            f"The folder {vault} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from error
