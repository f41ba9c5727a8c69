"""Where things live: the vault, its state, the runtime directory with the sockets.

State lives outside the vault, under the XDG directories, in a folder named after the vault's id.
The runtime directory is private (mode 0700) and short, for a socket's path may have about 100
bytes only.
"""

import hashlib
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eris.errors import ConfigurationError

SETTINGS_FOLDER = ".eris"
"""Folder in the vault with small readable settings; what makes a folder a vault of ours."""

_LONGEST_SOCKET_PATH = 100
_LONGEST_SOCKET_NAME = len("/orchestrator.sock")


@dataclass(frozen=True)
class Paths:
    """Every place that the processes of one vault use."""

    vault: Path
    """The folder of notes, absolute."""
    vault_id: str
    """Twelve hexadecimal digits that name the vault."""
    runtime: Path
    """Sockets, locks and the child table; mode 0700; empty when nothing runs."""
    state: Path
    """Journals and ledgers: what must survive."""
    cache: Path
    """What can be deleted at any time."""
    models: Path
    """Model files, shared by all vaults."""

    @property
    def logs(self) -> Path:
        """Rotated log files."""
        return self.state / "logs"

    @property
    def bus_socket(self) -> str:
        """ZeroMQ endpoint of the bus."""
        return f"ipc://{self.runtime}/bus.sock"

    @property
    def supervisor_socket(self) -> str:
        """ZeroMQ endpoint of the supervisor's control socket."""
        return f"ipc://{self.runtime}/erisd.sock"

    def lock(self, name: str) -> Path:
        """Lock file that the process ``name`` holds while it lives, with its pid inside."""
        return self.runtime / f"{name}.lock"

    def create(self) -> None:
        """Make the directories that must exist before a process starts.

        Raises:
            ConfigurationError: One can't be made, or the runtime directory isn't private.
        """
        for folder in (self.state, self.logs, self.cache):
            _make(folder)
        _make(self.runtime)
        _check_private(self.runtime)

    def environment(self) -> dict[str, str]:
        """What a child process needs to find the same places."""
        return {
            "ERIS_VAULT": str(self.vault),
            "ERIS_VAULT_ID": self.vault_id,
            "ERIS_RUNTIME_DIR": str(self.runtime),
            "ERIS_STATE_DIR": str(self.state),
        }


def paths_for(vault: Path, environ: Mapping[str, str]) -> Paths:
    """Return the places of a vault; creates nothing but, for a vault without one, its id.

    Raises:
        ConfigurationError: The vault isn't a folder that can be read, or its path isn't text.
    """
    vault = Path(os.path.realpath(vault.expanduser()))
    require_text(vault)
    if not vault.is_dir():
        raise ConfigurationError(
            f"The vault {vault} is not a folder.",
            hint=f"Make it with: eris init {vault}",
        )
    if not os.access(vault, os.R_OK | os.X_OK):
        raise ConfigurationError(
            f"The vault {vault} can't be read.", hint="Check the permissions of the folder."
        )
    states = _xdg(environ, "XDG_STATE_HOME", ".local/state") / "eris"
    vault_id = environ.get("ERIS_VAULT_ID") or _vault_id(vault, states)
    state = Path(environ.get("ERIS_STATE_DIR") or states / vault_id)
    return Paths(
        vault=vault,
        vault_id=vault_id,
        runtime=Path(environ.get("ERIS_RUNTIME_DIR") or _runtime(vault_id, environ)),
        state=state,
        cache=_xdg(environ, "XDG_CACHE_HOME", ".cache") / "eris" / vault_id,
        models=models_folder(environ),
    )


def paths_from_environment(environ: Mapping[str, str]) -> Paths:
    """Return the places for a child process, from what the supervisor gave it.

    Raises:
        ConfigurationError: ``ERIS_VAULT`` isn't set or isn't a folder.
    """
    vault = environ.get("ERIS_VAULT")
    if not vault:
        raise ConfigurationError(
            "ERIS_VAULT is not set.",
            hint="Start this process with `eris up` or `eris restart`, not by hand.",
        )
    return paths_for(Path(vault), environ)


def find_vault(option: str | None, environ: Mapping[str, str], cwd: Path) -> Path:
    """Return the vault to use: the option, ``ERIS_VAULT``, or the nearest one around ``cwd``.

    Raises:
        ConfigurationError: There is none.
    """
    named = option or environ.get("ERIS_VAULT")
    if named:
        return Path(named).expanduser().absolute()
    for folder in (cwd, *cwd.parents):
        if (folder / SETTINGS_FOLDER).is_dir():
            return folder
    raise ConfigurationError(
        f"There is no vault at {cwd} or above it.",
        hint="Name one with --vault or ERIS_VAULT, or make one: eris init PATH",
    )


def unicode_text(text: str) -> str:
    """Return text from the command line or a file name; bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(text).decode("utf-8", errors="replace")


def require_text(vault: Path) -> None:
    """Check that a vault's path can be shown and stored.

    Raises:
        ConfigurationError: It has bytes that are no UTF-8.
    """
    readable = unicode_text(str(vault))
    if readable != str(vault):
        raise ConfigurationError(
            f"The path of the vault {readable} is not valid Unicode.",
            hint="Rename the folder: its path is shown and stored as text.",
        )


def models_folder(environ: Mapping[str, str]) -> Path:
    """Folder of the model files, shared by all vaults."""
    return _xdg(environ, "XDG_DATA_HOME", ".local/share") / "eris" / "models"


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> Path:
    value = environ.get(variable, "")
    # The specification says that relative paths there are to be ignored.
    return Path(value) if value.startswith("/") else _home(environ) / default


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _vault_id(vault: Path, states: Path) -> str:
    """Return the id written in the vault, or make one.

    The id is kept in the vault, so that a moved vault keeps its state. A copy on the same machine
    brings the id along while the original is still there: then the copy gets one of its own. A
    vault that can't be written to is named after its path.
    """
    file = vault / SETTINGS_FOLDER / "id"
    from_path = hashlib.sha256(os.fsencode(vault)).hexdigest()[:12]
    known = ""
    if file.is_file():
        text = file.read_text(encoding="utf-8", errors="replace").strip()
        known = text if len(text) == len(from_path) and text.isalnum() else ""
    if known:
        recorded = states / known / "vault"
        original = Path(recorded.read_text(encoding="utf-8")) if recorded.is_file() else vault
        original_id = original / SETTINGS_FOLDER / "id"
        copied = original != vault and original_id.is_file()
        if not (copied and original_id.read_text(encoding="utf-8").strip() == known):
            _record(states / known, vault)
            return known
    fresh = secrets.token_hex(len(from_path) // 2)
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text(fresh + "\n", encoding="utf-8")
    except OSError:
        _record(states / from_path, vault)
        return from_path
    _record(states / fresh, vault)
    return fresh


def _record(state: Path, vault: Path) -> None:
    """Note in the state folder which vault it belongs to."""
    record = state / "vault"
    if not record.is_file() or record.read_text(encoding="utf-8") != str(vault):
        _make(state)
        record.write_text(str(vault), encoding="utf-8")


def _runtime(vault_id: str, environ: Mapping[str, str]) -> Path:
    """Return the first of the usual places whose socket paths are short enough."""
    user = os.getuid()
    places = []
    if environ.get("XDG_RUNTIME_DIR", "").startswith("/"):
        places.append(Path(environ["XDG_RUNTIME_DIR"]) / "eris")
    elif Path(f"/run/user/{user}").is_dir() and os.access(f"/run/user/{user}", os.W_OK):
        places.append(Path(f"/run/user/{user}") / "eris")
    places.append(_xdg(environ, "XDG_CACHE_HOME", ".cache") / "eris" / "run")
    # Last resort for a very long home path. Its owner and mode are checked like any other's.
    places.append(Path(f"/tmp/eris-{user}"))  # noqa: S108
    for place in places:
        runtime = place / vault_id
        if len(os.fsencode(runtime)) + _LONGEST_SOCKET_NAME <= _LONGEST_SOCKET_PATH:
            return runtime
    return places[-1] / vault_id


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} can't be made: {error.strerror}.",
            hint="Check the permissions and the free space there.",
        ) from error


def _check_private(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise ConfigurationError(
            f"The runtime folder {folder} belongs to somebody else.",
            hint="Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
