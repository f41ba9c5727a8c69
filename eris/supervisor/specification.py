"""What to start and how to look after it: ``supervisor.toml`` as checked structures.

A user's copy is laid over the packaged file key by key. An unknown key is a warning that names
it, so that a file written for a newer version still works; a bad value is an error with file,
line and key, for a wrong limit must not be guessed.
"""

import hashlib
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from eris.errors import ConfigurationError
from eris.toml_text import line_of

FILE_NAME = "supervisor.toml"

PACKAGED_FILE = Path(__file__).with_name(FILE_NAME)
"""The file that comes with Eris; in a checkout a link to the one at the top."""

_BYTES = {"": 1, "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
S = TypeVar("S", bound=msgspec.Struct)


class RestartPolicy(StrEnum):
    """When a child that ended is started again."""

    PERMANENT = "permanent"
    """Always."""
    TRANSIENT = "transient"
    """Unless it ended with exit code 0."""
    TEMPORARY = "temporary"
    """Never."""


class ChildSpecification(msgspec.Struct, frozen=True, kw_only=True):
    """One table ``[actor.NAME]``."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    """Program and arguments; ``{python}`` stands for the interpreter that runs erisd."""
    after: tuple[str, ...] = ()
    """Start once these are ready. One that has failed or was stopped isn't waited for."""
    restart: RestartPolicy = RestartPolicy.PERMANENT
    intensity: Count = 8
    """More failures than this within ``period_s`` and the child is given up."""
    period_s: Positive = 60
    stable_s: Seconds = 20
    """Once it has been ready for so long, its earlier failures are forgotten."""
    backoff_min_s: Seconds = 0.1
    backoff_max_s: Seconds = 30
    ready_s: Positive = 30
    """It must be ready this long after its start."""
    busy_s: Positive = 60
    """It may be busy with one thing for so long."""
    stop_s: Seconds = 10
    """From SIGTERM to SIGKILL."""
    memory_max: str = ""
    """Resident memory above which it's restarted, such as ``"512 MiB"``; empty for no limit."""
    threads: Count = 1
    """Threads of numeric libraries; 0 leaves them to the process."""
    environment: dict[str, str] = {}
    """Added to its environment."""
    network: bool = False
    """Whether it exists to reach other machines; not started with ``--offline``."""
    enabled: bool = True
    """Whether it's started at all."""

    def memory_limit(self) -> int:
        """``memory_max`` in bytes; 0 for no limit."""
        return _parse_bytes(self.memory_max) if self.memory_max else 0

    def digest(self) -> str:
        """Digest of everything above: a running child with another one has drifted."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:16]


class SupervisorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Table ``[supervisor]``."""

    ping_s: Positive = 1.0
    """How often each child is pinged."""
    missed_pings: Annotated[int, msgspec.Meta(ge=1)] = 3
    """So many unanswered pings in a row make it hung."""
    actors: tuple[str, ...] = ()
    """Start these only; empty for all."""


@dataclass(frozen=True)
class Specification:
    """Everything ``supervisor.toml`` says."""

    settings: SupervisorSettings
    children: Mapping[str, ChildSpecification]
    """By name, in the order of starting."""
    warnings: tuple[str, ...]
    """What was ignored, in sentences that name file, line and key."""


@dataclass(frozen=True)
class _File:
    """A parsed file that can say where a key stands."""

    path: Path
    text: str
    tables: Mapping[str, object]

    def place(self, *keys: str) -> str:
        """Return ``file, line N`` of a key, or of the nearest table around it."""
        return f"{self.path}, line {line_of(self.text, '.'.join(keys))}"


def load(configuration: Path | None, environ: Mapping[str, str]) -> Specification:
    """Read the packaged file and lay the user's copy over it.

    Args:
        configuration: What ``--config`` says: a folder, or a file beside which to look.
        environ: Where to find ``XDG_CONFIG_HOME`` and ``HOME``.

    Raises:
        ConfigurationError: A file can't be read or parsed, or a value is bad.
    """
    files = [_read(PACKAGED_FILE)]
    user = _user_file(configuration, environ)
    if user is not None:
        files.append(_read(user))
    return resolve(files)


def parse(*texts: str) -> Specification:
    """Resolve texts laid over one another, the first at the bottom.

    Raises:
        ConfigurationError: One can't be parsed, or a value is bad.
    """
    return resolve([_parse(Path(f"<text {number}>"), text) for number, text in enumerate(texts, 1)])


def resolve(files: Sequence[_File]) -> Specification:
    """Lay files over one another and check the result."""
    warnings: list[str] = []
    supervisor: dict[str, object] = {}
    defaults: dict[str, object] = {}
    actors: dict[str, dict[str, object]] = {}
    places: dict[tuple[str, ...], str] = {}
    for file in files:
        for section, table in file.tables.items():
            if section not in {"supervisor", "defaults", "actor"}:
                warnings.append(f"{file.place(section)}: the table [{section}] is unknown.")
                continue
            tables = _table(file, table, section)
            if section == "supervisor":
                _lay_over(supervisor, tables, file, places, (section,))
            elif section == "defaults":
                _lay_over(defaults, tables, file, places, (section,))
            else:
                for name, inner in tables.items():
                    own = _table(file, inner, section, name)
                    places["actor", name] = file.place("actor", name)
                    _lay_over(actors.setdefault(name, {}), own, file, places, ("actor", name))
    settings = _convert(supervisor, SupervisorSettings, ("supervisor",), places, warnings)
    _warn_of_unknown(defaults, ChildSpecification, ("defaults",), places, warnings)
    for name, table in actors.items():
        _apply_defaults(name, table, defaults, places)
    children = {
        name: _convert(table, ChildSpecification, ("actor", name), places, warnings)
        for name, table in actors.items()
    }
    children = {
        name: child
        for name, child in children.items()
        if child.enabled and (not settings.actors or name in settings.actors)
    }
    ordered = _in_starting_order(children, places)
    return Specification(settings=settings, children=ordered, warnings=tuple(warnings))


def command_of(specification: ChildSpecification) -> list[str]:
    """Return the command with its placeholders filled in."""
    return [part.replace("{python}", sys.executable) for part in specification.command]


def environment_of(specification: ChildSpecification) -> dict[str, str]:
    """Return what the child's environment gets on top of the supervisor's own."""
    threads = str(specification.threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    limited = dict.fromkeys(names, threads) if specification.threads else {}
    return {**limited, **specification.environment}


def _user_file(configuration: Path | None, environ: Mapping[str, str]) -> Path | None:
    if configuration is not None:
        folder = configuration if configuration.is_dir() else configuration.parent
        if not configuration.exists():
            raise ConfigurationError(
                f"The configuration {configuration} doesn't exist.",
                hint="Name a folder, or the config.toml in it, with --config.",
            )
        own = folder / FILE_NAME
        return own if own.is_file() else None
    home = environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if home.startswith("/") else Path(environ.get("HOME", "/")) / ".config"
    own = base / "eris" / FILE_NAME
    return own if own.is_file() else None


def _read(path: Path) -> _File:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} can't be read: {error}.", hint="Check that it's a readable UTF-8 text file."
        ) from error
    return _parse(path, text)


def _parse(path: Path, text: str) -> _File:
    try:
        return _File(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{path} isn't valid TOML: {error}.", hint="Correct that line."
        ) from error


def _table(file: _File, value: object, *keys: str) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    path = ".".join(keys)
    raise ConfigurationError(
        f"{file.place(*keys)}: {path} must be a table, not {value!r}.",
        hint=f"Write it as [{path}] followed by its keys.",
    )


def _lay_over(
    target: dict[str, object],
    upper: Mapping[str, object],
    file: _File,
    places: dict[tuple[str, ...], str],
    path: tuple[str, ...],
) -> None:
    for key, value in upper.items():
        lower = target.get(key)
        if isinstance(lower, dict) and isinstance(value, dict):
            target[key] = {**lower, **value}
        else:
            target[key] = value
        places[(*path, key)] = file.place(*path, key)


def _apply_defaults(
    name: str,
    table: dict[str, object],
    defaults: Mapping[str, object],
    places: dict[tuple[str, ...], str],
) -> None:
    for key, value in defaults.items():
        if key not in ChildSpecification.__struct_fields__:
            continue
        if key == "environment" and isinstance(value, dict):
            own = table.get(key, {})
            table[key] = {**value, **own} if isinstance(own, dict) else own
        else:
            table.setdefault(key, value)
        places.setdefault(("actor", name, key), places["defaults", key])


def _warn_of_unknown(
    table: Mapping[str, object],
    kind: type[msgspec.Struct],
    path: tuple[str, ...],
    places: Mapping[tuple[str, ...], str],
    warnings: list[str],
) -> None:
    known = kind.__struct_fields__
    for key in table:
        if key not in known:
            place = places[(*path, key)]
            warnings.append(
                f"{place}: the key {'.'.join((*path, key))} is unknown and was ignored; "
                f"known are {', '.join(known)}."
            )


def _convert(
    table: Mapping[str, object],
    kind: type[S],
    path: tuple[str, ...],
    places: Mapping[tuple[str, ...], str],
    warnings: list[str],
) -> S:
    _warn_of_unknown(table, kind, path, places, warnings)
    values: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in table:
            place = places[(*path, field.name)]
            values[field.name] = _value(table[field.name], field, ".".join(path), place)
        elif field.required:
            place = places[path]
            raise ConfigurationError(
                f"{place}: [{'.'.join(path)}] has no {field.name}.",
                hint=f"Add a line `{field.name} = …` to it.",
            )
    return kind(**values)


def _value(value: object, field: msgspec.structs.FieldInfo, path: str, place: str) -> object:
    try:
        converted: object = msgspec.convert(value, field.type)
        if field.name == "memory_max" and isinstance(converted, str) and converted:
            _parse_bytes(converted)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigurationError(
            f"{place}: {path}.{field.name} is {value!r}: {error}.",
            hint="Correct the value; docs/supervision.md lists what each key takes.",
        ) from error
    return converted


def _parse_bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*(B|KiB|MiB|GiB)?", text.strip())
    if match is None:
        raise ValueError('expected a size such as "512 MiB"')
    return int(match[1]) * _BYTES[match[2] or ""]


def _in_starting_order(
    children: Mapping[str, ChildSpecification], places: Mapping[tuple[str, ...], str]
) -> dict[str, ChildSpecification]:
    """Sort by dependencies, keeping the file's order among those that don't wait."""
    ordered: dict[str, ChildSpecification] = {}
    waiting = dict(children)
    while waiting:
        for name, child in waiting.items():
            # A dependency that isn't configured here can't be waited for.
            if all(other in ordered or other not in children for other in child.after):
                ordered[name] = child
                del waiting[name]
                break
        else:
            name = next(iter(waiting))
            place = places["actor", name, "after"]
            raise ConfigurationError(
                f"{place}: these actors wait for each other: {', '.join(waiting)}.",
                hint="Take one of them out of `after`.",
            )
    return ordered
