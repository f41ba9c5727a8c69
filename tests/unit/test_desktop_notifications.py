"""Desktop notifications over a real D-Bus daemon, with a notification service of our own on it."""

import pytest

from eris.desktop import Desktop, Outcome
from tests.notification_service import Session


@pytest.fixture
def session(monkeypatch):
    session = Session()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", session.address)
    yield session
    session.close()


class Log:
    def __init__(self):
        self.warnings = []

    def warning(self, event, **fields):
        self.warnings.append((event, fields["reason"]))


def test_a_notification_arrives_once_and_nothing_in_it_is_markup(session):
    session.serve()
    desktop = Desktop()
    try:
        assert desktop.show(
            "Stretch\n<b>now</b>\x1b[0m", "2 hours late & <i>waiting</i>"
        ).outcome is (Outcome.SHOWN)
    finally:
        desktop.close()
    assert session.service.shown == [
        ("Eris", "Stretch <b>now</b>␛[0m", "2 hours late &amp; &lt;i&gt;waiting&lt;/i&gt;")
    ]


def test_that_there_is_no_desktop_is_told_once_and_it_is_found_when_it_comes(session):
    log = Log()
    desktop = Desktop(log)
    try:
        for _ in range(3):
            notified = desktop.show("Stretch")
            assert notified.outcome is Outcome.NOT_SHOWN
            assert "There is no desktop to notify" in notified.reason
        assert [event for event, _ in log.warnings] == ["desktop.absent"]
        session.serve()
        assert desktop.show("Stretch").outcome is Outcome.SHOWN
        session.leave()
        assert desktop.show("Again").outcome is Outcome.NOT_SHOWN
        assert len(log.warnings) == 2
    finally:
        desktop.close()
    assert [summary for _, summary, _ in session.service.shown] == ["Stretch"]


@pytest.mark.parametrize("address", ["", "unix:path=/nonexistent/bus", "nonsense"])
def test_without_a_session_bus_nothing_is_shown(monkeypatch, address, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    desktop = Desktop()
    try:
        assert desktop.show("Stretch").outcome is Outcome.NOT_SHOWN
    finally:
        desktop.close()


def test_a_desktop_that_never_answers_leaves_it_unknown(session):
    session.service.silent = True
    session.serve()
    desktop = Desktop(within=0.5)
    try:
        assert desktop.show("Stretch").outcome is Outcome.UNKNOWN
    finally:
        desktop.close()
    assert len(session.service.shown) == 1


def test_the_users_session_is_found_where_the_environment_does_not_name_it(
    session, tmp_path, monkeypatch
):
    session.serve()
    path = session.address.partition("path=")[2].partition(",")[0]
    (tmp_path / "bus").symlink_to(path)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    desktop = Desktop()
    try:
        assert desktop.show("Stretch").outcome is Outcome.SHOWN
    finally:
        desktop.close()
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
