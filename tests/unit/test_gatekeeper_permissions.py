"""Who may use which tools."""

import pytest

from actors.gatekeeper.permissions import PERMITTED, is_denied, why_not
from proto.tools import Effect, Origin


@pytest.mark.parametrize(
    ("origin", "effect", "permitted"),
    [
        (Origin.USER, Effect.READ, True),
        (Origin.USER, Effect.WRITE, True),
        (Origin.USER, Effect.SEND, True),
        (Origin.REMINDER, Effect.READ, True),
        (Origin.REMINDER, Effect.WRITE, False),
        (Origin.REMINDER, Effect.SEND, False),
        (Origin.CHANNEL, Effect.READ, False),
        (Origin.CHANNEL, Effect.WRITE, False),
        (Origin.CHANNEL, Effect.SEND, False),
    ],
)
def test_permission_depends_on_who_started_the_turn(
    origin: Origin, effect: Effect, permitted: bool
) -> None:
    assert (why_not("a:b", effect, origin, ()) == "") is permitted


@pytest.mark.parametrize(
    ("tool", "permitted"),
    [
        ("vault:write", True),
        ("agenda:remind_self", True),
        ("vault:delete", False),
        ("vault:edit", False),
        ("agenda:remove", False),
        ("memory:about_me", False),
        ("skills:create", False),
    ],
)
def test_a_reminders_turn_changes_little_and_proposes_the_rest(tool: str, permitted: bool) -> None:
    reason = why_not(tool, Effect.WRITE, Origin.REMINDER, ())
    assert (reason == "") is permitted
    assert permitted or "propose" in reason


def test_the_table_speaks_of_every_origin() -> None:
    assert set(PERMITTED) == set(Origin)


@pytest.mark.parametrize(
    ("denied", "tool", "off"),
    [
        ((), "vault:write", False),
        (("vault:write",), "vault:write", True),
        (("vault:write",), "vault:read", False),
        (("vault:*",), "vault:read", True),
        (("*",), "clock:now", True),
    ],
)
def test_the_deny_list_has_the_last_word(denied: tuple[str, ...], tool: str, off: bool) -> None:
    assert is_denied(tool, denied) is off
    assert bool(why_not(tool, Effect.READ, Origin.USER, denied)) is off
