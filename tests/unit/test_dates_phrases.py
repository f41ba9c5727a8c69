"""A table of phrases, each with what it means at a certain moment."""

import datetime as dt
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from eris.dates import Duration, Instant, Options, Recurrence, understand
from eris.errors import InvalidError

TABLE = Path(__file__).parent.parent / "data" / "date_phrases.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


def same(expected, got):
    """Compare a local time with what the table says, with its offset where it says one."""
    return expected == got.isoformat(timespec="minutes")[: len(expected)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['now']} {row['phrase']}")
def test_phrase(row):
    now = dt.datetime.fromisoformat(row["now"]).replace(tzinfo=ZoneInfo(row["zone"]))
    options = Options(
        order=row.get("order", "day_first"), first_weekday=row.get("first_weekday", "monday")
    )
    expected = row["expected"]
    if expected == "refused":
        with pytest.raises(InvalidError) as raised:
            understand(row["phrase"], now, options)
        assert raised.value.hint
        return
    meaning = understand(row["phrase"], now, options).meaning
    match meaning:
        case Duration():
            assert expected == {"seconds": meaning.seconds}
            assert meaning.ends.timestamp() - now.timestamp() == meaning.seconds
        case Recurrence():
            assert (meaning.rule, meaning.zone) == (expected.get("rule"), expected["zone"])
            assert same(expected["first"], meaning.first)
        case Instant():
            assert expected.get("zone") == meaning.zone
            assert same(expected["local"], meaning.local)


def test_table_is_large_enough_to_mean_something():
    assert len(ROWS) >= 150
    assert sum(row["held_out"] for row in ROWS) >= 40
