"""The slash commands: one table that help, completion and dispatch agree with."""

import pytest

from actors.console.commands import (
    COMMANDS,
    QuitRequested,
    completions,
    is_command,
    message_of,
    run_command,
)
from actors.console.link import Link
from eris.errors import InvalidError


@pytest.fixture
def link():
    return Link(None, "main", lambda: None)


def test_the_help_names_every_command(link):
    text = run_command(link, "/help")
    for command in COMMANDS:
        assert f"/{command.name}" in text
        assert command.summary in text


def test_the_commands_that_users_were_promised_are_there():
    names = {command.name for command in COMMANDS}
    assert names >= {
        "help", "context", "tools", "status", "restart", "cancel", "new", "sessions", "quit"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "meant"), [("/hlep", "/help"), ("/quti", "/quit"), ("/stats", "/status")]
)
def test_an_unknown_command_is_answered_with_the_nearest(link, typed, meant):
    with pytest.raises(InvalidError) as caught:
        run_command(link, typed)
    assert meant in caught.value.hint


def test_a_command_like_nothing_points_to_the_help(link):
    with pytest.raises(InvalidError) as caught:
        run_command(link, "/xyzzy")
    assert "/help" in caught.value.hint


def test_quit_leaves(link):
    with pytest.raises(QuitRequested):
        run_command(link, "/quit")


def test_restart_wants_a_name(link):
    with pytest.raises(InvalidError, match="/restart NAME"):
        run_command(link, "/restart")


def test_cancel_without_a_turn_says_so(link):
    assert run_command(link, "/cancel") == "No turn is running."


LINES = [
    ("hello", False, "hello"),
    ("/help", True, "/help"),
    ("//etc is a folder", False, "/etc is a folder"),
    ("a /b", False, "a /b"),
]


@pytest.mark.parametrize(("line", "command", "message"), LINES)
def test_two_slashes_send_a_message_that_begins_with_one(line, command, message):
    assert is_command(line) is command
    assert message_of(line) == message


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/", [f"/{command.name}{' ' if command.argument else ''}" for command in COMMANDS]),
        ("/he", ["/help"]),
        ("/res", ["/restart "]),
        ("hello", []),
        ("/nothing", []),
        ("//", []),
    ],
)
def test_commands_are_completed(link, typed, offered):
    assert [line for line, _ in completions(link, typed)] == offered
