"""What the pages say of the command line and the console is what there is."""

import re
from pathlib import Path

import click
import pytest

from actors.console.commands import COMMANDS as SLASH_COMMANDS
from eris.cli.main import COMMANDS, cli

REPOSITORY = Path(__file__).parent.parent.parent
PAGES = [
    REPOSITORY / "README.md",
    *sorted(page for page in (REPOSITORY / "docs").glob("*.md") if page.name != "protocol.md"),
]

_CALL = re.compile(r"(?:^|`|&& |\| |\$ )eris ((?:--\w+ \S+ )*)([a-z-]+)([^`\n#|&]*)", re.MULTILINE)


def named_command(name, rest):
    """The command that a line of a page calls, and its own name if it's in a group."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, f"there is no command `eris {name}`"
    words = rest.split()
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(click.Context(command), words[0].rstrip(",.;:"))
        assert inner is not None, f"there is no command `eris {name} {words[0]}`"
        return inner
    return command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_on_a_page_exists(page):
    for _, name, rest in _CALL.findall(page.read_text(encoding="utf-8")):
        command = named_command(name, rest)
        known = {option for one in command.params for option in one.opts} | {"--help"}
        for option in re.findall(r"(?<!\S)\[?(--?[a-z][a-z-]*)", rest):
            assert option in known, f"{page.name}: eris {name} has no {option}"


def test_the_readme_shows_how_to_begin():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for words in ("make run", "make test", "WSL", "Linux and macOS", *map("eris {}".format, (
        "init", "up", "console", "ask", "status", "doctor", "down"
    ))):  # fmt: skip
        assert words in text


def test_every_link_between_pages_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_of_the_console_has_every_slash_command():
    text = (REPOSITORY / "docs" / "console.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(/[^`]+)` \|", text, re.MULTILINE))
    assert listed == {f"/{command.name} {command.argument}".strip() for command in SLASH_COMMANDS}


def test_every_command_is_mentioned_on_some_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in COMMANDS:
        assert f"eris {name}" in text, name
