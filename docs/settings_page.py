"""The page of the settings, made from `eris.config`; see generate.py."""

import inspect

import msgspec

from eris import config

INTRODUCTION = """\
# Settings

This page is made from `eris/config.py` by `docs/generate.py`.

A setting has its value from the first of these that sets it:

1. a flag: `eris --set model.threads=2 up`
2. the environment: `ERIS_MODEL_THREADS=2` (a list is separated by commas)
3. the vault: `.eris/config.toml` in it
4. you: `$XDG_CONFIG_HOME/eris/config.toml`, `~/.config/eris/config.toml` by default; another file
   or folder with `--config` or `ERIS_CONFIG`
5. the default below

```
$ eris config show --origin      # every value, and which of these it comes from
$ eris config set turn.tool_rounds 3
$ eris config validate           # what a start would say of the files
```

`eris config set` writes to the vault's file and leaves the rest of it as it was; `--user` writes to
your own. `eris config get`, `path` and `edit` do what they say. Processes that run already take a
new value when they're restarted: `eris restart inference`, or `eris down && eris up`.

A key that isn't known is ignored with a warning that names it and the nearest right one, so that a
file for a newer version still works. A bad value is refused with file, line and key, by
`eris config validate`, by `eris doctor` and at the start alike (exit code 78).

What is started, and how it's looked after, is in `supervisor.toml`: see
[supervision](supervision.md).
"""


def settings_page(described: dict[str, dict[str, str]]) -> str:
    """Return the page.

    Args:
        described: Docstrings of the fields, by class and field.
    """
    top: list[str] = []
    sections: list[str] = []
    for field in msgspec.structs.fields(config.Settings):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            rows = [
                _row(f"{inner.name}", f"{field.name}.{inner.name}", described[field.type.__name__])
                for inner in msgspec.structs.fields(field.type)
            ]
            text = inspect.cleandoc(field.type.__doc__ or "").partition(": ")[2]
            title = f"## [{field.name}]\n\n{text[:1].upper()}{text[1:]}\n"
            sections.append("\n".join([title, *_HEADER, *rows, ""]))
        else:
            top.append(_row(field.name, field.name, described["Settings"]))
    return "\n".join([INTRODUCTION, "## Outside of any table\n", *_HEADER, *top, "", *sections])


_HEADER = ("| key | default | meaning |", "|---|---|---|")


def _row(name: str, key: str, described: dict[str, str]) -> str:
    default = msgspec.json.encode(config.value_of(config.Settings(), key)).decode()
    meaning = described.get(name, "").replace("\n", " ").replace("``", "`")
    return f"| `{name}` | `{default}` | {meaning} |"
