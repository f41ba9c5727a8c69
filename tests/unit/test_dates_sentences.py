"""Times found in sentences, and none found where there is none."""

import datetime as dt
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from eris.dates import Duration, Instant, Recurrence, find
from eris.errors import InvalidError

TABLE = Path(__file__).parent.parent / "data" / "date_sentences.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
TIMELESS = [row["sentence"] for row in ROWS if row["expected"] is None]
TIMED = [row for row in ROWS if row["expected"] is not None]
NOW = dt.datetime(2026, 12, 3, 21, 13, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize("sentence", TIMELESS)
def test_no_time_is_found_where_there_is_none(sentence):
    with pytest.raises(InvalidError, match="doesn't say when") as raised:
        find(sentence, NOW)
    assert raised.value.hint


@pytest.mark.parametrize("row", TIMED, ids=lambda row: row["sentence"])
def test_time_and_rest_of_a_sentence(row):
    expected = row["expected"]
    found = find(row["sentence"], NOW)
    match found.meant.meaning:
        case Duration(seconds=seconds):
            assert seconds == expected["seconds"]
        case Recurrence() as series:
            assert series.rule == expected["rule"]
            assert f"{series.first:%Y-%m-%dT%H:%M}" == expected["first"]
        case Instant(local=local):
            assert f"{local:%Y-%m-%dT%H:%M}" == expected["local"]
    assert found.rest == expected.get("rest", found.rest)


def test_tables_are_large_enough_to_mean_something():
    assert len(TIMELESS) >= 40
    assert len(TIMED) >= 25
