"""What a vault's Obsidian settings say, read from the texts of its files; without a disk.

A file that's missing, broken or half right gives defaults and a remark, never an error: a vault
must open whatever another program left there.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from eris.vault.names import Names

Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")


class LinkFormat(StrEnum):
    """`newLinkFormat`: how the path in a new link is written."""

    SHORTEST = "shortest"
    """The bare name if only one file has it, otherwise the path from the root."""
    RELATIVE = "relative"
    """From the folder of the note that has the link."""
    ABSOLUTE = "absolute"
    """From the root of the vault."""


class NewFileLocation(StrEnum):
    """`newFileLocation`: the folder of a note that is made without one."""

    ROOT = "root"
    CURRENT = "current"
    """That of the note that's open, or that links to it."""
    FOLDER = "folder"
    """`newFileFolderPath`."""


class TrashOption(StrEnum):
    """`trashOption`: where deleted files go."""

    SYSTEM = "system"
    LOCAL = "local"
    """To `.trash` in the vault."""
    NONE = "none"


class Settings(Struct, frozen=True):
    """What matters to us of the files of `.obsidian`.

    Folders have no slash at their ends; the root of the vault is "".
    """

    link_format: LinkFormat = LinkFormat.SHORTEST
    markdown_links: bool = False
    attachment_path: str = ""
    """As written: "" for the root, a folder, `./` for the note's own, `./name` for one in it."""
    new_file_location: NewFileLocation = NewFileLocation.ROOT
    new_file_folder: str = ""
    ignore_filters: tuple[str, ...] = ()
    """Starts of paths, or regular expressions between slashes."""
    always_update_links: bool = False
    trash: TrashOption = TrashOption.SYSTEM
    daily_folder: str = ""
    daily_format: str = "YYYY-MM-DD"
    """In moment.js's tokens; may contain `/`."""
    daily_template: str = ""
    """Path of a note, often without `.md`; empty for none."""
    template_folder: str = ""
    date_format: str = "YYYY-MM-DD"
    """What `{{date}}` means in a template."""
    time_format: str = "HH:mm"
    """What `{{time}}` means in a template."""
    property_types: Mapping[str, str] = {}
    """The type that the user gave a property: `text`, `multitext`, `date`, `checkbox`..."""
    core_plugins: Mapping[str, bool] = {}
    """Whether Obsidian's own plugins are on, by id; of others it's not known."""
    remarks: tuple[str, ...] = ()
    """Sentences about what couldn't be read, and what is taken instead."""


def read_settings(
    app: str | None = None,
    daily_notes: str | None = None,
    templates: str | None = None,
    types: str | None = None,
    core_plugins: str | None = None,
) -> Settings:
    """Return the settings that these texts give.

    Args:
        app: The text of `.obsidian/app.json`; None if there's no such file.
        daily_notes: The text of `.obsidian/daily-notes.json`.
        templates: The text of `.obsidian/templates.json`.
        types: The text of `.obsidian/types.json`.
        core_plugins: The text of `.obsidian/core-plugins.json`.
    """
    remarks: list[str] = []
    general = _File("app.json", app, remarks)
    daily = _File("daily-notes.json", daily_notes, remarks)
    template = _File("templates.json", templates, remarks)
    properties = _File("types.json", types, remarks)
    plugins = _File("core-plugins.json", core_plugins, remarks, listed=True)
    default = Settings()
    settings = Settings(
        link_format=general.choice("newLinkFormat", default.link_format),
        markdown_links=general.flag("useMarkdownLinks"),
        attachment_path=_attachment_path(general.text("attachmentFolderPath", "")),
        new_file_location=general.choice("newFileLocation", default.new_file_location),
        new_file_folder=_folder(general.text("newFileFolderPath", "")),
        ignore_filters=general.texts("userIgnoreFilters"),
        always_update_links=general.flag("alwaysUpdateLinks"),
        trash=general.choice("trashOption", default.trash),
        daily_folder=_folder(daily.text("folder", "")),
        daily_format=daily.text("format", "").strip() or default.daily_format,
        daily_template=daily.text("template", "").strip().strip("/"),
        template_folder=_folder(template.text("folder", "")),
        date_format=template.text("dateFormat", "").strip() or default.date_format,
        time_format=template.text("timeFormat", "").strip() or default.time_format,
        property_types=properties.words("types"),
        core_plugins=plugins.flags(),
    )
    remarks.extend(
        f"The expression {written} in userIgnoreFilters of app.json can't be read;"
        " it hides nothing."
        for written in settings.ignore_filters
        if _is_expression(written) and _expression(written) is None
    )
    return replace(settings, remarks=tuple(remarks))


def ignored(path: str, settings: Settings) -> bool:
    """Whether search and lists pass by this path: hidden, or excluded by the user."""
    composed = unicodedata.normalize("NFC", path)
    if any(name.startswith(".") for name in composed.split("/")):
        return True
    return any(pattern.search(composed) for pattern in _filters(settings.ignore_filters))


def attachment_folder(note_path: str, settings: Settings) -> str:
    """Return the folder that an attachment of this note goes to; "" for the root."""
    written = settings.attachment_path
    if written != "." and not written.startswith("./"):
        return written
    parts = [note_path.rpartition("/")[0], written[2:]]
    return "/".join(part for part in parts if part)


def attachment_path(name: str, note_path: str, names: Names, settings: Settings) -> str:
    """Return where a new attachment of a note goes, under a name that is free.

    Args:
        name: The file's name, with its extension.
        note_path: The note that it's for.
        names: All files of the vault.
        settings: The vault's.

    Returns:
        The path; ` 1`, ` 2`... stands before the extension if the name is taken.
    """
    folder = attachment_folder(note_path, settings)
    return free_path(f"{folder}/{name}" if folder else name, names)


def free_path(path: str, names: Names) -> str:
    """Return a path that no file has, with ` 1`, ` 2`... before its extension if need be."""
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    number = 0
    while names.at(path) is not None:
        number += 1
        path = f"{folder}{slash}{stem} {number}{dot}{extension}"
    return path


def new_note_folder(current_path: str, settings: Settings) -> str:
    """Return the folder of a note that is made without one; "" for the root.

    Args:
        current_path: The note that's open or that links to it; "" if there's none.
        settings: The vault's.
    """
    match settings.new_file_location:
        case NewFileLocation.ROOT:
            return ""
        case NewFileLocation.CURRENT:
            return current_path.rpartition("/")[0]
        case NewFileLocation.FOLDER:
            return settings.new_file_folder


class _File:
    """One settings file; what is wrong with it goes to the remarks."""

    def __init__(
        self, name: str, text: str | None, remarks: list[str], *, listed: bool = False
    ) -> None:
        self._name = name
        self._remarks = remarks
        self._values: Mapping[str, object] = {}
        if text is None or not text.strip("\ufeff \t\r\n\0"):
            return
        try:
            values = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            remarks.append(f"{name} isn't JSON ({error}); Obsidian's defaults are taken.")
            return
        if isinstance(values, dict):
            self._values = values
        elif listed and isinstance(values, list):
            # Older versions list what is on.
            self._values = {key: True for key in values if isinstance(key, str)}
        else:
            remarks.append(f"{name} isn't a JSON object; Obsidian's defaults are taken.")

    def text(self, key: str, default: str) -> str:
        value = self._values.get(key)
        if isinstance(value, str):
            return unicodedata.normalize("NFC", value)
        return self._wrong(key, "a text", default) if value is not None else default

    def flag(self, key: str) -> bool:
        value = self._values.get(key)
        if isinstance(value, bool):
            return value
        return self._wrong(key, "true or false", default=False) if value is not None else False

    def words(self, key: str) -> dict[str, str]:
        values = self._values.get(key)
        if values is None:
            return {}
        if not isinstance(values, dict):
            return self._wrong(key, "an object", {})
        return {name: value for name, value in values.items() if isinstance(value, str)}

    def flags(self) -> dict[str, bool]:
        return {key: value for key, value in self._values.items() if isinstance(value, bool)}

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            return self._wrong(key, "a list", ())
        if not all(isinstance(item, str) for item in value):
            self._remarks.append(f"{key} in {self._name} has items that aren't texts; left out.")
        return tuple(
            unicodedata.normalize("NFC", item) for item in value if isinstance(item, str) and item
        )

    def choice(self, key: str, default: Choice) -> Choice:
        value = self._values.get(key)
        if value is None:
            return default
        options = type(default)
        for option in options:
            if value == option.value:
                return option
        return self._wrong(key, "one of " + ", ".join(options), default)

    def _wrong(self, key: str, expected: str, default: Value) -> Value:
        self._remarks.append(f"{key} in {self._name} isn't {expected}; the default is taken.")
        return default


def _folder(written: str) -> str:
    return "/".join(name for name in written.strip().split("/") if name not in {"", "."})


def _attachment_path(written: str) -> str:
    stripped = written.strip()
    if stripped == "." or stripped.startswith("./"):
        inside = _folder(stripped)
        return f"./{inside}"
    return _folder(stripped)


def _is_expression(written: str) -> bool:
    return len(written) > 2 and written.startswith("/") and written.endswith("/")  # noqa: PLR2004 - two slashes


def _expression(written: str) -> re.Pattern[str] | None:
    # JavaScript's named groups are written without the P.
    source = re.sub(r"\(\?<(?=[A-Za-z_$])", "(?P<", written[1:-1])
    try:
        return re.compile(source, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        return None


@lru_cache(maxsize=8)
def _filters(written: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    patterns: list[re.Pattern[str]] = []
    for one in written:
        if _is_expression(one):
            pattern = _expression(one)
            if pattern:
                patterns.append(pattern)
        else:
            patterns.append(re.compile("^" + re.escape(one.removeprefix("/")), re.IGNORECASE))
    return tuple(patterns)
