"""`clock:now` tells the time as the user's own clock shows it."""

import json
import time
from datetime import UTC, datetime

import pytest

from actors.agenda.clock import local_moment, system_zone, time_told, utc_offset
from actors.agenda.clock_tools import clock_tools
from eris.tools import ToolBox
from proto.tools import CallTool, Origin

NEW_YEAR = datetime(2026, 12, 31, 23, 30, tzinfo=UTC).timestamp()
SUMMER = datetime(2026, 7, 1, 12, 0, tzinfo=UTC).timestamp()


def told(seconds, environ):
    zone = system_zone(environ)
    return time_told(local_moment(seconds, zone), zone)


ZONES = {
    "the year is another there": (
        NEW_YEAR,
        "Europe/Berlin",
        (
            "It is 00:30 on Friday, 1 January 2027.\n"
            "Local time 2027-01-01T00:30:00+01:00, time zone Europe/Berlin (CET, UTC+01:00)."
        ),
    ),
    "summer time": (
        SUMMER,
        "Europe/Berlin",
        (
            "It is 14:00 on Wednesday, 1 July 2026.\n"
            "Local time 2026-07-01T14:00:00+02:00, time zone Europe/Berlin (CEST, UTC+02:00)."
        ),
    ),
    "half an hour": (
        SUMMER,
        "Asia/Kolkata",
        (
            "It is 17:30 on Wednesday, 1 July 2026.\n"
            "Local time 2026-07-01T17:30:00+05:30, time zone Asia/Kolkata (IST, UTC+05:30)."
        ),
    ),
    "west": (
        SUMMER,
        ":America/New_York",
        (
            "It is 08:00 on Wednesday, 1 July 2026.\n"
            "Local time 2026-07-01T08:00:00-04:00, time zone America/New_York (EDT, UTC-04:00)."
        ),
    ),
    "UTC": (
        SUMMER,
        "UTC",
        (
            "It is 12:00 on Wednesday, 1 July 2026.\n"
            "Local time 2026-07-01T12:00:00+00:00, time zone UTC (UTC, UTC+00:00)."
        ),
    ),
    "a path into the database": (
        SUMMER,
        "/usr/share/zoneinfo/Asia/Tokyo",
        (
            "It is 21:00 on Wednesday, 1 July 2026.\n"
            "Local time 2026-07-01T21:00:00+09:00, time zone Asia/Tokyo (JST, UTC+09:00)."
        ),
    ),
}


@pytest.mark.parametrize(("seconds", "setting", "text"), ZONES.values(), ids=ZONES.keys())
def test_the_time_is_told_in_words_and_figures_in(seconds, setting, text):
    assert told(seconds, {"TZ": setting}) == text


@pytest.fixture
def process_zone(monkeypatch):
    def use(setting):
        monkeypatch.setenv("TZ", setting)
        time.tzset()
        return {"TZ": setting}

    yield use
    monkeypatch.undo()
    time.tzset()


def test_rules_without_a_name_are_honoured(process_zone):
    environ = process_zone("XYZ-3XDT,M3.5.0,M10.5.0/3")
    assert told(SUMMER, environ).startswith("It is 16:00 on Wednesday, 1 July 2026.")


def test_an_unknown_zone_is_pointed_out(process_zone):
    assert "TZ=Nowhere/City is not a known time zone" in told(SUMMER, process_zone("Nowhere/City"))


@pytest.mark.parametrize("setting", ["", "../../etc/passwd", "a\0b", "."])
def test_a_senseless_setting_does_no_harm(setting, monkeypatch):
    monkeypatch.delenv("TZ", raising=False)
    assert "2026" in told(SUMMER, {"TZ": setting})


def test_without_a_setting_the_systems_link_counts_then_its_file(tmp_path):
    link, file = tmp_path / "localtime", tmp_path / "timezone"
    assert system_zone({}, link, file).name == ""
    file.write_text("Asia/Tokyo\n")
    assert system_zone({}, link, file).name == "Asia/Tokyo"
    link.symlink_to("../usr/share/zoneinfo/Europe/Paris")
    assert system_zone({}, link, file).name == "Europe/Paris"
    file.write_bytes(b"\xff\xfe")
    link.unlink()
    link.write_bytes(b"a copy of the rules")
    assert system_zone({}, link, file).name == ""


@pytest.mark.parametrize(
    ("zone", "offset"),
    [
        ("America/St_Johns", "UTC-02:30"),
        ("Pacific/Kiritimati", "UTC+14:00"),
        ("Asia/Kathmandu", "UTC+05:45"),
    ],
)
def test_an_offset_is_written_as_people_do(zone, offset):
    assert utc_offset(local_moment(SUMMER, system_zone({"TZ": zone}))) == offset


@pytest.mark.parametrize("arguments", ["{}", '{"format": "24h"}'])
def test_the_tool_answers_with_facts_and_without_a_receipt(arguments):
    toolbox = ToolBox(clock_tools(lambda: SUMMER, {"TZ": "Europe/Berlin"}))
    (declaration,) = toolbox.declarations()
    assert json.loads(declaration.parameters)["properties"] == {}
    result = toolbox.execute(
        CallTool(
            call_id="c",
            tool="clock:now",
            arguments=arguments,
            origin=Origin.USER,
            session="main",
        )
    )
    assert result.ok
    assert result.receipt == ""
    assert result.data == {
        "iso": "2026-07-01T14:00:00+02:00",
        "weekday": "Wednesday",
        "zone": "Europe/Berlin",
        "offset": "UTC+02:00",
    }
