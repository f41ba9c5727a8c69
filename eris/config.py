"""Every setting of Eris: what it means, its default, and where its value came from.

A setting is one field of one structure below; nothing else has to be edited to add one. Layers,
the upper one winning: flag, environment (``ERIS_<SECTION>_<KEY>``), the vault's
``.eris/config.toml``, the user's ``$XDG_CONFIG_HOME/eris/config.toml``, the default.
`load_settings` is the only validator: the processes, ``eris config validate`` and ``eris doctor``
all call it.

An unknown key is a warning that names it and the nearest right one, so that a file written for
a newer version still works; a bad value is an error with file, line and key.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from eris.errors import ConfigurationError
from eris.paths import SETTINGS_FOLDER
from eris.toml_text import line_of

FILE_NAME = "config.toml"
"""Name of a settings file, in the user's folder and in a vault's `SETTINGS_FOLDER`."""

Positive = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
TimeOfDay = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="a time of the day such as 09:00"
    ),
]
QuietHours = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$",
        description="two times of the day such as 22:00-07:00",
    ),
]
_NAME = r"[^./\\:~][^/\\:]*"
VaultPath = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"^{_NAME}(/{_NAME})*$",
        description="a path in the vault such as Plans/2026, where no name starts with a dot",
    ),
]
"""Path of a folder or note, from the vault's folder; nothing hidden, and nothing outside."""


class _Section(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the sections below."""


class ModelSettings(_Section, frozen=True):
    """Table ``[model]``: which models are loaded, and how."""

    chat: Annotated[str, msgspec.Meta(min_length=1)] = "qwen2.5-coder-0.5b"
    """Catalogue name of the chat model, or the path of a GGUF file."""
    embedding: str = "minilm-l6-v2-int8"
    """Catalogue name of the embedding model; empty for none (tools are then found by keywords)."""
    context_length: Annotated[int, msgspec.Meta(ge=512)] = 8192
    """Tokens of context to allocate; the model's own limit lowers it."""
    threads: Count = 0
    """Threads of the chat model; 0 for one on each physical core."""
    batch: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 128
    """Tokens of a prompt that are computed at once; a cancel waits for one batch at most."""
    engine: Literal["llama.cpp", "llama.cpp-reference", "llama-server", "openai", "ollama"] = (
        "llama.cpp"
    )
    """What runs the chat model: Eris itself, llama.cpp's own grammar sampler for comparison, or a
    server: llama.cpp's, one that speaks OpenAI's protocol, or Ollama."""
    url: Annotated[str, msgspec.Meta(pattern=r"^(https?://\S+)?$")] = ""
    """Address of the server; empty for its usual one on this machine."""
    allow_remote: bool = False
    """Whether the server may be on another machine: then the conversation leaves this one. A
    vault's own settings can't say it."""
    server_model: str = ""
    """Name of the model at the server; empty for the only one it has."""
    structured: Literal["auto", "grammar", "guided_grammar", "json_schema"] = "auto"
    """How the server is told the form of answers: by grammar (``guided_grammar`` for older vLLM),
    or by JSON Schema; ``auto`` takes what the engine does best."""
    api_key_file: str = ""
    """File with the key for the server, readable by you alone; empty for none."""
    api_key_env: str = ""
    """Environment variable with the key, instead of a file."""
    server_seconds: Positive = 300
    """A server that is silent for so long is given up."""


class GenerationSettings(_Section, frozen=True):
    """Table ``[generation]``: how the model writes."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.0
    """0 always picks the likeliest token; larger is more varied."""
    max_tokens: Annotated[int, msgspec.Meta(ge=16)] = 512
    """Most tokens of one answer of the model."""
    form: Literal["auto", "spaced", "compact", "indented"] = "auto"
    """How the JSON of answers is written: with a space after ``:`` and ``,``, without, or line by
    line. ``auto`` takes what the model finds likeliest, measured once for each model file."""
    thought_characters: Count = 300
    """Most characters of the thought in front of an answer."""
    think_tokens: Count = 512
    """Most tokens of the ``<think>`` part of models that reason before they answer."""
    top_k: Count = 40
    """Pick among so many of the likeliest tokens; 0 for all. Without effect at temperature 0,
    like ``top_p``, ``min_p`` and ``seed``."""
    top_p: Share = 0.95
    """Pick among the likeliest tokens that have this probability together."""
    min_p: Share = 0.05
    """Leave out tokens that are less likely than this share of the likeliest one."""
    repeat_penalty: Annotated[float, msgspec.Meta(gt=0, le=2)] = 1.0
    """Makes the last 64 tokens less likely; 1 for no penalty."""
    dry_multiplier: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.0
    """Weight of the penalty on lengthening a repetition (DRY); 0 for none."""
    seed: Count = 0
    """The same seed gives the same answers to the same questions."""


class RouterSettings(_Section, frozen=True):
    """Table ``[router]``: which tools the model is offered."""

    threshold: Share = 0.38
    """Least similarity between what was said and a tool for the tool to be offered."""
    limit: Count = 5
    """Most tools to offer in a turn."""
    evident: Share = 0.65
    """Similarity from which on a tool that changes something is certainly needed: the model must
    call one before it answers. What was said in so many words, such as a note's name with a verb,
    is above it. Tools that only read are always called where they are offered."""


class TurnSettings(_Section, frozen=True):
    """Table ``[turn]``: the limits of one turn."""

    tool_rounds: Count = 5
    """Most rounds of tool calls."""
    recovery_attempts: Count = 3
    """Most attempts to recover from a bad answer; not refilled by a success."""
    result_tokens: Annotated[int, msgspec.Meta(ge=32)] = 600
    """Most tokens of one tool result that the model sees; the rest is kept."""
    budget_seconds: Positive = 600
    """A turn that has run for so long is ended."""
    recall_characters: Count = 500
    """Most characters of notes, memories and documents that are recalled unasked; 0 for none. A
    small model answers worse with more."""
    skill_characters: Count = 1600
    """Most characters of the skills that fit, two at most, that the model sees; 0 for none."""


class ToolSettings(_Section, frozen=True):
    """Table ``[tools]``: which tools may be used."""

    denied: tuple[str, ...] = ()
    """Names of tools that are neither offered nor carried out, such as ``vault:write``."""


class VaultSettings(_Section, frozen=True):
    """Table ``[vault]``: the folder of notes itself."""

    name: str = ""
    """What the vault is called on screen; empty for its folder's name."""
    read_only: tuple[VaultPath, ...] = ()
    """Folders and notes that Eris only reads, such as ``["Archive", "Me/Rules.md"]``, with all that
    is in them. They can't be moved or deleted by Eris either; you can do what you like."""
    agent_folder: VaultPath = "Eris"
    """Folder for the notes that Eris makes of its own accord, such as those of memories."""
    skills: tuple[VaultPath, ...] = ("Eris/Skills",)
    """Folders in which skills are looked for, at any depth; new ones go into the first."""


class MemorySettings(_Section, frozen=True):
    """Table ``[memory]``: what is remembered, and where it's looked for."""

    index: Annotated[str, msgspec.Meta(pattern=r"^(edge|https?://\S+)$")] = "edge"
    """Where vectors are: ``edge`` for a folder of this machine, or the address of a Qdrant server,
    such as ``http://nas:6333``. `eris memory index --move-to` takes them from one to the other."""
    index_key_file: str = ""
    """File with the API key of that server, which nobody else should be able to read."""
    staged_days: Annotated[int, msgspec.Meta(ge=1)] = 30
    """How long something remembered stays if nobody commits it, so that it gets its note."""
    layout: Literal["note", "revisions"] = "note"
    """How memories are written: one note each that says what held before, or a folder each with a
    new note for every revision."""
    core_note: str = ""
    """The note that is told to the model in every turn; empty for ``About me.md`` in
    `vault.agent_folder`."""
    document_folders: tuple[str, ...] = ()
    """Folders outside of the vault whose documents Eris may take in when it's asked to, with all
    that is in them. On the command line any file can be named."""


class AgendaSettings(_Section, frozen=True):
    """Table ``[agenda]``: how dates are understood, and what Eris does of its own accord."""

    default_time: TimeOfDay = "09:00"
    """Of a day that was said without a time."""
    first_weekday: Literal["monday", "sunday", "saturday"] = "monday"
    """With which day weeks begin."""
    date_order: Literal["day_first", "month_first"] = "day_first"
    """What ``3/4`` means: 3 April, or March 4."""
    snooze_minutes: Positive = 10
    """How long a reminder is put off if no time is said."""
    own_turns: Count = 12
    """Most turns a day that Eris has of its own accord, for reminders to itself; 0 for none."""
    note_tasks: Literal["off", "list", "remind"] = "list"
    """What is done with open tasks of notes that have a date, as ``- [ ] pay rent 📅 2027-01-03``:
    listed with the others, or also told of on their day; ticking either ticks both."""
    desktop: bool = True
    """Notify the desktop of a reminder that no attached surface shows, where there is a desktop."""
    quiet: QuietHours = ""
    """When Eris does nothing of its own accord, such as ``22:00-07:00``; empty for never. Your own
    reminders are told of at any hour."""


class BusSettings(_Section, frozen=True):
    """Table ``[bus]``: connections from other machines."""

    tcp: Annotated[str, msgspec.Meta(pattern=r"^(tcp://\S+:(\d+|\*))?$")] = ""
    """Endpoint to listen on besides the local socket, such as ``tcp://0.0.0.0:7900``; empty for
    none. Who may connect is said with `eris peer`."""


class Settings(_Section, frozen=True):
    """All settings."""

    model: ModelSettings = ModelSettings()
    generation: GenerationSettings = GenerationSettings()
    router: RouterSettings = RouterSettings()
    turn: TurnSettings = TurnSettings()
    tools: ToolSettings = ToolSettings()
    vault: VaultSettings = VaultSettings()
    memory: MemorySettings = MemorySettings()
    agenda: AgendaSettings = AgendaSettings()
    bus: BusSettings = BusSettings()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least important messages that are written to the log files."""


class Layer(StrEnum):
    """Where a value can come from, the weakest first."""

    DEFAULT = "default"
    USER = "user"
    VAULT = "vault"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(msgspec.Struct, frozen=True):
    """Where a value came from."""

    layer: Layer
    source: str = ""
    """File or variable; empty for a default."""
    line: int = 0
    """Line in the file, from 1; 0 if there is none."""

    def __str__(self) -> str:
        """The origin in words, such as ``vault (/notes/.eris/config.toml:3)``."""
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{self.layer} ({place})" if place else str(self.layer)


class ConfigurationWarning(msgspec.Struct, frozen=True):
    """Something that is ignored, and what to write instead."""

    key: str
    message: str
    hint: str
    path: str = ""
    """The file, or empty."""
    line: int = 0


class LoadedSettings(msgspec.Struct, frozen=True):
    """Settings with their history."""

    settings: Settings
    origins: Mapping[str, Origin]
    """By dotted key, for every key."""
    warnings: tuple[ConfigurationWarning, ...]


class Candidate(msgspec.Struct, frozen=True):
    """A value that a layer gives to a key."""

    key: str
    value: object
    origin: Origin


def _fields(section: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(section, include_extras=True)
    for name in section.__struct_fields__:
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from _fields(kind, f"{name}.")
        else:
            yield prefix + name, kind


KEYS: Mapping[str, Any] = dict(_fields(Settings))
"""Type of every setting by dotted key, such as ``model.chat``."""

SECTIONS = frozenset(key.partition(".")[0] for key in KEYS if "." in key)
"""Names of the tables."""


SCHEMA_ENGINES = frozenset({"openai", "ollama"})
"""Values of ``model.engine`` whose servers are told the form of answers by JSON Schema."""

YOURS_ALONE = frozenset(
    {"model.allow_remote", "model.url", "model.api_key_file", "model.api_key_env"}
)
"""Settings that a vault's own file can't make: a folder of notes that comes from elsewhere must not
say where a conversation goes, or which key goes with it."""

HANDED_ON = frozenset({"ERIS_VAULT_ID"})
"""Variables with a section's prefix that tell a child where things are and set nothing."""


def variable_of(key: str) -> str:
    """Return the environment variable of a setting: ``model.chat`` is ``ERIS_MODEL_CHAT``."""
    return "ERIS_" + key.replace(".", "_").upper()


def value_of(settings: Settings, key: str) -> object:
    """Return the value of a dotted key."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def nearest_key(key: str) -> str:
    """Return the known key that looks most like ``key``, or an empty string."""
    close = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.6)
    if close:
        return str(close[0])
    # ``threads`` for ``model.threads``, or the right name in the wrong table.
    name = key.rpartition(".")[2]
    names: dict[str, str] = {known.rpartition(".")[2]: known for known in KEYS}
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    return str(names[close[0]]) if close else ""


def user_file(environ: Mapping[str, str]) -> Path:
    """Return the user's settings file: what ``ERIS_CONFIG`` names, else the one under XDG."""
    named = environ.get("ERIS_CONFIG")
    if named:
        path = Path(named).expanduser()
        return path / FILE_NAME if path.is_dir() else path
    base = environ.get("XDG_CONFIG_HOME", "")
    # The specification says that relative paths there are to be ignored.
    folder = Path(base) if base.startswith("/") else Path(environ.get("HOME", "/")) / ".config"
    return folder / "eris" / FILE_NAME


def vault_file(vault: Path) -> Path:
    """Return the settings file of a vault."""
    return vault / SETTINGS_FOLDER / FILE_NAME


def load_settings(
    vault: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, str] | None = None,
) -> LoadedSettings:
    """Read all layers and check them.

    Args:
        vault: The vault whose file counts; None for none.
        environ: Where the ``ERIS_…`` variables and the user's folder are looked up.
        overrides: What flags said, as text by dotted key.

    Raises:
        ConfigurationError: A file can't be read or parsed, or a value is bad.
    """
    candidates, warnings = _from_files(vault, environ)
    for found, complaints in (_from_environment(environ), _from_flags(overrides or {})):
        candidates += found
        warnings += complaints
    values: dict[str, object] = {}
    origins = {key: Origin(Layer.DEFAULT) for key in KEYS}
    for candidate in candidates:  # the strongest layer comes last
        values[candidate.key] = check_value(candidate)
        origins[candidate.key] = candidate.origin
    nested: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[name] = value
    settings = msgspec.convert(nested, Settings, str_keys=True)
    return LoadedSettings(settings, origins, tuple(warnings))


def check_value(candidate: Candidate) -> object:
    """Return the value in the setting's own type.

    Raises:
        ConfigurationError: It doesn't fit; says where it stands.
    """
    text_layer = candidate.origin.layer in {Layer.ENVIRONMENT, Layer.FLAG}
    kind = KEYS[candidate.key]
    value = candidate.value
    try:
        if text_layer and isinstance(value, str) and _is_list(kind):
            value = tuple(part.strip() for part in value.split(",") if part.strip())
        return msgspec.convert(value, kind, strict=not text_layer)
    except msgspec.ValidationError as error:
        raise _bad_value(candidate, str(error)) from error


def _is_list(kind: object) -> bool:
    return getattr(kind, "__origin__", None) is tuple


def _bad_value(candidate: Candidate, reason: str) -> ConfigurationError:
    origin = candidate.origin
    place = f"{origin.source}, line {origin.line}" if origin.line else origin.source
    details: dict[str, str | int] = {"key": candidate.key}
    if origin.line:
        details |= {"path": origin.source, "line": origin.line}
    return ConfigurationError(
        f"{place}: {candidate.key} can't be {candidate.value!r}: "
        f"{_plain(reason, KEYS[candidate.key])}.",
        hint=f"Correct it; the default is {value_of(Settings(), candidate.key)!r}.",
        details=details,
    )


def _plain(reason: str, kind: object) -> str:
    """A validation message in the words of a person who writes a settings file."""
    if "matching regex" in reason and (description := _described(kind)):
        return f"expected {description}"
    words = {"`int`": "a whole number", "`str`": "text", "`float`": "a number", "`array`": "a list"}
    for technical, plain in words.items():
        reason = reason.replace(technical, plain)
    return reason[:1].lower() + reason[1:]


def _described(kind: object) -> str:
    """Return what a value, or each of a list, has to be, where a pattern says it; or nothing."""
    element = get_args(kind)[0] if _is_list(kind) else kind
    metadata = getattr(element, "__metadata__", ())
    return next((each.description for each in metadata if each.description), "")


def _from_files(
    vault: Path | None, environ: Mapping[str, str]
) -> tuple[list[Candidate], list[ConfigurationWarning]]:
    user = user_file(environ)
    if environ.get("ERIS_CONFIG") and not user.is_file():
        raise ConfigurationError(
            f"The settings file {user} isn't there.",
            hint="Correct --config or ERIS_CONFIG, or make it with: eris config edit",
        )
    files = [(Layer.USER, user)]
    if vault is not None:
        files.append((Layer.VAULT, vault_file(vault)))
    candidates: list[Candidate] = []
    warnings: list[ConfigurationWarning] = []
    for layer, path in files:
        found, complaints = read_file(layer, path)
        candidates += found
        warnings += complaints
    return candidates, warnings


def read_file(layer: Layer, path: Path) -> tuple[list[Candidate], list[ConfigurationWarning]]:
    """Return what a settings file says; nothing if it isn't there.

    Raises:
        ConfigurationError: It can't be read, or isn't TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} can't be read: {error}.", hint="It must be a readable UTF-8 text file."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{path} isn't valid TOML: {error}.", hint="Correct that line: eris config edit"
        ) from error
    candidates: list[Candidate] = []
    warnings: list[ConfigurationWarning] = []
    for key, value in _leaves(tables):
        origin = Origin(layer, str(path), line_of(text, key))
        if key in YOURS_ALONE and layer is Layer.VAULT:
            raise ConfigurationError(
                f"{path}, line {origin.line}: {key} can't be set in a vault's own file.",
                hint=f"Set it for yourself: eris config set --user {key} ...",
                details={"key": key, "path": str(path), "line": origin.line},
            )
        if key in KEYS:
            candidates.append(Candidate(key, value, origin))
        elif key in SECTIONS:
            raise ConfigurationError(
                f"{path}, line {origin.line}: {key} must be a table, not {value!r}.",
                hint=f"Write [{key}] on a line of its own and its keys below.",
                details={"key": key, "path": str(path), "line": origin.line},
            )
        else:
            warnings.append(_unknown(key, origin))
    return candidates, warnings


def _leaves(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in tables.items():
        if name in SECTIONS and isinstance(value, dict):
            yield from ((f"{name}.{inner}", leaf) for inner, leaf in value.items())
        else:
            yield name, value


def _unknown(key: str, origin: Origin) -> ConfigurationWarning:
    near = nearest_key(key)
    where = f"{origin.source}, line {origin.line}" if origin.line else origin.source
    return ConfigurationWarning(
        key=key,
        message=f"{where}: the setting {key} is unknown and ignored.",
        hint=f"Did you mean {near}?" if near else "See all settings with: eris config show",
        path=origin.source if origin.line else "",
        line=origin.line,
    )


def _from_environment(
    environ: Mapping[str, str],
) -> tuple[list[Candidate], list[ConfigurationWarning]]:
    candidates: list[Candidate] = []
    warnings: list[ConfigurationWarning] = []
    variables = {variable_of(key): key for key in KEYS}
    prefixes = tuple(f"ERIS_{section.upper()}_" for section in SECTIONS)
    for variable in sorted(environ):
        origin = Origin(Layer.ENVIRONMENT, variable)
        if variable in variables:
            candidates.append(Candidate(variables[variable], environ[variable], origin))
        elif variable.startswith(prefixes) and variable not in HANDED_ON:
            key = variable.removeprefix("ERIS_").lower().replace("_", ".", 1)
            near = nearest_key(key)
            hint = f"Did you mean {variable_of(near)}?" if near else "Unset it."
            message = f"The variable {variable} names no setting and is ignored."
            warnings.append(ConfigurationWarning(key, message, hint))
    return candidates, warnings


def _from_flags(
    overrides: Mapping[str, str],
) -> tuple[list[Candidate], list[ConfigurationWarning]]:
    for key in overrides:
        if key not in KEYS:
            near = nearest_key(key)
            raise ConfigurationError(
                f"The setting {key} is unknown.",
                hint=f"Did you mean {near}?" if near else "See all with: eris config show",
                details={"key": key},
            )
    origin = Origin(Layer.FLAG, "--set")
    return [Candidate(key, value, origin) for key, value in overrides.items()], []
