"""The vault's tools as the gatekeeper calls them, and what the model is told."""

import json

import pytest

from tests.served_vault import ServedVault


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    return vault


@pytest.fixture
def vault(place, tmp_path):
    served = ServedVault(place, tmp_path)
    served.look()
    yield served
    served.close()


# Writing.


def test_the_first_note_is_saved_with_a_receipt(vault):
    result = vault.call("vault:write", path="notes/today.md", content="I should buy milk.")
    assert result.ok
    assert result.receipt == "created notes/today.md (18 bytes)"
    assert result.content == "Created notes/today.md (18 bytes)."
    assert result.data == {"path": "notes/today.md", "bytes": 18, "action": "created"}
    assert vault.text("notes/today.md") == "I should buy milk."


def test_more_is_appended_and_overwriting_is_asked_for_by_name(vault):
    vault.fill({"a.md": "one\n"})
    appended = vault.call("vault:write", path="a.md", content="two")
    assert appended.receipt == "appended 3 bytes to a.md"
    assert vault.text("a.md") == "one\ntwo\n"
    overwrote = vault.call("vault:write", path="a.md", content="3", mode="overwrite")
    assert overwrote.receipt == "overwrote a.md (1 byte)"
    assert vault.text("a.md") == "3"


def test_creating_never_replaces_and_a_twin_is_pointed_out(vault):
    vault.fill({"a.md": "one\n", "old/plan.md": "x"})
    refused = vault.call("vault:write", path="a.md", content="two", mode="create")
    assert (refused.ok, refused.code) == (False, "conflict")
    assert vault.text("a.md") == "one\n"
    made = vault.call("vault:write", path="new/plan.md", content="x", mode="create")
    assert "There is another note of that name: old/plan.md." in made.content


def test_what_was_decided_for_the_model_is_told_to_it(vault):
    result = vault.call("vault:write", path="new/idea", content="x")
    assert result.content == (
        "Created new/idea.md (1 byte). new/idea had no extension, so .md was added. "
        "The folder new is new."
    )
    result = vault.call("vault:write", path="idea", content="y")
    assert result.content == (
        "Appended 1 byte to new/idea.md. You asked for idea; this is the note of that name."
    )


def test_a_new_note_without_a_folder_goes_where_the_settings_say(vault):
    vault.fill(
        {".obsidian/app.json": '{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}'}
    )
    result = vault.call("vault:write", path="idea", content="x")
    assert result.receipt == "created Inbox/idea.md (1 byte)"
    assert "New notes go to Inbox." in result.content


REPEATED = {
    "write": ("vault:write", {"path": "a.md", "content": "milk"}),
    "write over": ("vault:write", {"path": "a.md", "content": "milk", "mode": "overwrite"}),
    "write anew": ("vault:write", {"path": "new", "content": "milk", "mode": "create"}),
    "append": ("vault:append", {"path": "a", "content": "milk"}),
    "append to a new one": ("vault:append", {"path": "new", "content": "milk"}),
    "edit": ("vault:edit", {"path": "a", "action": "replace", "target": "one", "content": "1"}),
    "move": ("vault:move", {"path": "a", "target": "b"}),
    "move away": ("vault:move", {"path": "a", "target": "deep/er/"}),
    "delete": ("vault:delete", {"path": "a"}),
    "daily": ("vault:daily", {"content": "slept well"}),
    "a task": ("vault:add_task", {"text": "sow"}),
    "a task that's done": ("vault:tick_task", {"text": "water"}),
    "a skill": ("skills:create", {"name": "x", "description": "y", "body": "z"}),
}


@pytest.mark.parametrize(("tool", "arguments"), REPEATED.values(), ids=REPEATED.keys())
def test_a_repeated_call_is_answered_like_the_first_and_done_once(vault, tool, arguments):
    vault.fill({"a.md": "# A\n\none\n\n- [ ] water\n", "b/c.md": "[[a]]\n"})
    first = vault.call(tool, "turn-1.1.0", **arguments)
    assert first.ok, first.content
    assert first.receipt
    after = vault.contents()
    assert vault.call(tool, "turn-1.1.0", **arguments) == first
    assert vault.contents() == after


def test_the_last_turn_is_undone_and_the_one_before_it_next(vault):
    vault.fill({"a.md": "one\n"})
    before = vault.contents()
    vault.call("vault:append", "turn-1.1.0", path="a", content="two")
    between = vault.contents()
    vault.call("vault:append", "turn-2.1.0", path="a", content="three")
    vault.call("vault:write", "turn-2.1.1", path="b.md", content="four")
    undone = vault.call("vault:undo", "turn-3.1.0")
    assert undone.ok
    assert "undid step" in undone.receipt
    assert vault.contents() == between
    assert vault.call("vault:undo", "turn-3.1.0") == undone
    assert vault.contents() == between
    vault.call("vault:undo", "turn-4.1.0")
    assert vault.contents() == before
    nothing = vault.call("vault:undo", "turn-5.1.0")
    assert (nothing.ok, nothing.code) == (False, "not-found")


def test_what_another_session_wrote_is_undone_only_if_this_one_wrote_nothing(vault):
    vault.call("vault:write", path="mine.md", content="x", session="one")
    vault.call("vault:write", path="other.md", content="x", session="two")
    vault.call("vault:undo", session="one")
    assert set(vault.contents()) == {"other.md"}
    vault.call("vault:undo", session="three")
    assert set(vault.contents()) == set()


# What a session has read is what its writes are based on.

DAY = "# Day\n\nmilk\n\n## Work\n\ncall Bob\n\n## Home\n\nwater\n"
OVER = {"action": "section", "target": "Work", "content": "call Ann"}


def test_what_the_user_changed_since_it_was_read_is_not_overwritten(vault):
    vault.fill({"day.md": DAY})
    vault.call("vault:read", path="day")
    vault.fill({"day.md": DAY.replace("call Bob", "call Bob at 5")})
    refused = vault.call("vault:edit", path="day", **OVER)
    assert (refused.ok, refused.code) == (False, "conflict")
    assert "call Bob at 5" in refused.content
    assert "call Bob at 5" in vault.text("day.md")
    refused = vault.call("vault:write", path="day.md", content="new", mode="overwrite")
    assert (refused.ok, refused.code) == (False, "conflict")
    vault.call("vault:read", path="day")
    assert vault.call("vault:edit", path="day", **OVER).ok
    assert vault.text("day.md") == DAY.replace("call Bob", "call Ann")


def test_a_change_elsewhere_in_the_note_is_kept(vault):
    vault.fill({"day.md": DAY})
    vault.call("vault:read", path="day")
    vault.fill({"day.md": DAY.replace("water\n", "water the roses\n")})
    result = vault.call("vault:edit", path="day", **OVER)
    assert "It was changed since you read it; that change was kept." in result.content
    assert vault.text("day.md") == DAY.replace("Bob", "Ann").replace("water", "water the roses")


def test_another_session_that_read_it_later_is_not_held_back(vault):
    vault.fill({"day.md": DAY})
    vault.call("vault:read", path="day", session="one")
    vault.fill({"day.md": DAY.replace("Bob", "Eve")})
    vault.call("vault:read", path="day", session="two")
    assert vault.call("vault:edit", path="day", session="two", **OVER).ok
    stale = {**OVER, "content": "call Zoe"}
    assert not vault.call("vault:edit", path="day", session="one", **stale).ok


# Editing.

NOTE = (
    "---\nstatus: open  # soon\ntags: [a]\n---\n"
    "# Plan\n\nred red\n\n## Ideas\n\n- boat\n\n## Log\n\nend\n"
)
EDITS = {
    "replace": ({"action": "replace", "target": "boat", "content": "raft"}, ("- boat", "- raft")),
    "replace all": (
        {"action": "replace", "target": "red", "content": "blue", "count": 2},
        ("red red", "blue blue"),
    ),
    "insert": (
        {"action": "insert", "target": "Ideas", "content": "- car"},
        ("- boat\n", "- boat\n- car\n"),
    ),
    "section": (
        {"action": "section", "target": "## Log", "content": "x"},
        ("\n\nend\n", "\n\nx\n"),
    ),
    "set": ({"action": "set", "target": "status", "content": "done"}, ("open  #", "done  #")),
    "set a number": (
        {"action": "set", "target": "rating", "content": "5"},
        ("tags: [a]\n", "tags: [a]\nrating: 5\n"),
    ),
    "set a date": (
        {"action": "set", "target": "due", "content": "2027-02-01"},
        ("tags: [a]\n", "tags: [a]\ndue: 2027-02-01\n"),
    ),
    "remove": ({"action": "remove", "target": "tags"}, ("tags: [a]\n", "")),
}


@pytest.mark.parametrize(("arguments", "change"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_changes_what_it_says_and_not_a_byte_more(vault, arguments, change):
    vault.fill({"plan.md": NOTE})
    result = vault.call("vault:edit", path="plan", **arguments)
    assert result.ok, result.content
    assert "plan.md" in result.receipt
    assert vault.text("plan.md") == NOTE.replace(*change)
    vault.call("vault:undo")
    assert vault.text("plan.md") == NOTE


REFUSED_EDITS = {
    "twice": (
        {"action": "replace", "target": "red", "content": "x"},
        "twice in the note, not once",
    ),
    "nowhere": ({"action": "replace", "target": "- boot", "content": "x"}, "- boat"),
    "no heading": ({"action": "insert", "target": "Nope", "content": "x"}, "## Ideas"),
    "no property": ({"action": "remove", "target": "due"}, "It has: status, tags."),
    "nothing to insert": ({"action": "insert", "target": "Ideas"}, "nothing to insert"),
}


@pytest.mark.parametrize(
    ("arguments", "sentence"), REFUSED_EDITS.values(), ids=REFUSED_EDITS.keys()
)
def test_an_edit_that_fits_nothing_says_what_is_there(vault, arguments, sentence):
    vault.fill({"plan.md": NOTE})
    result = vault.call("vault:edit", path="plan", **arguments)
    assert not result.ok
    assert sentence in result.content
    assert vault.text("plan.md") == NOTE


def test_text_is_appended_at_the_end_or_under_a_heading(vault):
    vault.fill({"plan.md": NOTE})
    result = vault.call("vault:append", path="plan", content="- car", heading="Ideas")
    assert result.receipt == "appended 5 bytes to plan.md, under 'Ideas'"
    assert vault.text("plan.md") == NOTE.replace("- boat\n", "- boat\n- car\n")
    vault.call("vault:append", path="plan", content="The end.")
    assert vault.text("plan.md").endswith("end\nThe end.\n")


def test_a_note_is_renamed_with_its_links_and_comes_back(vault):
    vault.fill({"hub.md": "x", "a.md": "[[hub]] and ![[hub#X|y]]", "b/c.md": "[h](../hub.md)"})
    before = vault.contents()
    result = vault.call("vault:move", path="hub", target="deep/centre")
    assert result.receipt == "moved hub.md to deep/centre.md and rewrote links in 2 files"
    assert vault.text("a.md") == "[[centre]] and ![[centre#X|y]]"
    assert vault.text("b/c.md") == "[h](../deep/centre.md)"
    vault.call("vault:undo")
    assert vault.contents() == before


def test_a_deleted_note_is_in_the_trash(vault):
    vault.fill({"old.md": "x"})
    assert vault.call("vault:delete", path="old").receipt == "moved old.md to the trash"
    assert set(vault.contents()) == {".trash/old.md"}


# Reading and finding.


def test_a_note_is_read_with_its_path_and_no_receipt(vault):
    vault.fill({"notes/today.md": "buy milk\n"})
    result = vault.call("vault:read", path="notes/today.md")
    assert (result.ok, result.content, result.receipt) == (True, "notes/today.md:\nbuy milk", "")


def test_a_long_note_says_how_to_read_on(vault):
    vault.fill({"long.md": "0123456789" * 2000})
    first = vault.call("vault:read", path="long.md")
    assert first.content.endswith(
        "(This is characters 0 to 8000 of 20000. To read on, call vault:read with offset 8000.)"
    )
    last = vault.call("vault:read", path="long.md", offset=16000)
    assert "To read on" not in last.content


def test_a_long_note_tells_its_headings_any_of_which_can_be_read(vault):
    vault.fill({"long.md": "# One\n" + "word\n" * 3000 + "## Two\nthe end ^last\n"})
    first = vault.call("vault:read", path="long.md")
    assert "line 3002: ## Two" in first.content
    for part in ({"part": "Two"}, {"path": "long#Two"}, {"path": "[[long#Two|two]]"}):
        result = vault.call("vault:read", **{"path": "long", **part})
        assert result.content.startswith("long.md#Two")
        assert result.content.endswith(":\n## Two\nthe end ^last")
    assert vault.call("vault:read", path="long", part="^last").content.endswith("the end ^last")
    assert vault.call("vault:read", path="long", line=3003).content.endswith("the end ^last")


def test_a_note_is_found_by_title_and_alias(vault):
    vault.fill(
        {
            "p/1.md": "---\naliases: [Annie]\n---\nAnna\n",
            "p/2.md": "# Coupon Enable/Disable Feature\n",
        }
    )
    assert vault.call("vault:read", path="annie").content.endswith("Anna")
    told = vault.call("vault:read", path="Coupon Enable/Disable Feature").content
    assert told.startswith("p/2.md (you asked for")


def test_a_heading_that_only_one_note_has_is_read_by_its_title(vault):
    vault.fill({"house.md": "# House\n\n## Boiler\n\nold\n\n## Roof\n", "b.md": "## Roof\n"})
    told = vault.call("vault:read", path="boiler").content
    assert told == "house.md#boiler (you asked for boiler):\n## Boiler\n\nold"
    assert not vault.call("vault:read", path="roof").ok


def test_of_two_notes_of_one_title_none_is_written_to(vault):
    vault.fill({"a/1.md": "# Plan\n", "b/2.md": "# Plan\n"})
    before = vault.contents()
    for tool, arguments in (
        ("vault:write", {"content": "x"}),
        ("vault:append", {"content": "x"}),
        ("vault:edit", {"action": "replace", "target": "Plan", "content": "x"}),
        ("vault:move", {"target": "x"}),
        ("vault:delete", {}),
        ("vault:add_task", {"text": "x"}),
    ):
        result = vault.call(tool, path="plan", **arguments)
        assert (result.ok, result.code) == (False, "conflict"), tool
        assert "a/1.md, b/2.md" in result.content
    assert vault.contents() == before


def test_an_empty_note_an_empty_folder_and_no_match_are_said(vault):
    assert vault.call("vault:list", folder="notes").content == "There are no notes in notes."
    vault.fill({"notes/x.md": ""})
    assert vault.call("vault:read", path="x").content == (
        "notes/x.md (you asked for x):\n(The note is empty.)"
    )
    assert vault.call("vault:search", query="milk").content == (
        "None of 1 notes has the words: milk."
    )


def test_notes_are_listed_and_found(vault):
    vault.fill({"notes/today.md": "a\nbuy milk\n", "ideas.md": "none"})
    assert vault.call("vault:list").content == "In the vault:\nideas.md\nnotes/\nnotes/today.md"
    assert vault.call("vault:search", query="Milk").content == (
        "1 note found for: milk.\nnotes/today.md\n  line 2: buy milk"
    )


def test_a_long_result_is_read_on_by_offset(vault):
    vault.fill({f"{number:02}.md": "milk #food\n- [ ] buy\n" for number in range(25)})
    for tool, arguments, page in (
        ("vault:search", {"query": "milk"}, 10),
        ("vault:taglist", {"tag": "#food"}, 10),
        ("vault:query", {"query": "tags = food"}, 20),
        ("vault:tasks", {}, 20),
        ("vault:links", {"kind": "orphans"}, 20),
    ):
        first = vault.call(tool, **arguments)
        assert f"(1 to {page} of 25. For more, call {tool} with offset {page}" in first.content
        rest = vault.call(tool, **arguments, offset=20).content
        assert "24.md" in rest, tool
        assert "19.md" not in rest, tool


def test_properties_tags_and_links_are_told_with_their_places(vault):
    vault.fill(
        {
            "a.md": "---\nstatus: open\ndue: 2027-02-01\n---\nSee [[b]] and [[lost]]. #work/now\n",
            "b.md": "---\nstatus: done\n---\n",
        }
    )
    told = vault.call("vault:query", query="status = open and due < 2027-03-01").content
    assert told == "1 note:\na.md (status: open, due: 2027-02-01)"
    assert vault.call("vault:taglist").content == ("1 tags, with the number of notes:\n#work/now 1")
    assert vault.call("vault:taglist", tag="work").content.startswith("1 note found")
    assert vault.call("vault:links", path="b").content == (
        "1 link to b.md:\na.md line 5: See [[b]] and [[lost]]. #work/now"
    )
    assert "lost (leads nowhere), a.md line 5" in (
        vault.call("vault:links", path="a", kind="links").content
    )
    assert "lost" in vault.call("vault:links", kind="unresolved").content
    assert "a.md" in vault.call("vault:links", kind="orphans").content
    assert "b.md" in vault.call("vault:links", kind="deadends").content
    assert not vault.call("vault:links").ok


# Daily work.


def test_the_daily_note_is_made_read_and_added_to(vault):
    vault.fill(
        {
            ".obsidian/daily-notes.json": '{"folder": "days", "template": "T/Day"}',
            "T/Day.md": "# {{title}}\n",
        }
    )
    made = vault.call("vault:daily")
    assert made.receipt == "created days/2027-01-31.md (13 bytes)"
    assert made.content.endswith("days/2027-01-31.md:\n# 2027-01-31")
    again = vault.call("vault:daily", day="2027-01-31")
    assert (again.receipt, again.content) == ("", "days/2027-01-31.md:\n# 2027-01-31")
    added = vault.call("vault:daily", content="Slept well.")
    assert added.receipt == "appended 11 bytes to days/2027-01-31.md"
    assert vault.text("days/2027-01-31.md") == "# 2027-01-31\nSlept well.\n"
    assert vault.call("vault:daily", day="tomorrow").data["path"] == "days/2027-02-01.md"
    assert not vault.call("vault:daily", day="soon").ok


def test_a_daily_note_is_never_another_note_of_that_name(vault):
    vault.fill({"archive/2027-01-31.md": "old\n"})
    vault.call("vault:daily", content="new")
    assert vault.text("archive/2027-01-31.md") == "old\n"
    assert vault.text("2027-01-31.md") == "new\n"


def test_tasks_are_listed_added_and_ticked_wherever_they_are(vault):
    vault.fill(
        {
            "home.md": "# Garden\n\n- [ ] water the plants 📅 2027-02-01\n- [x] sow\n",
            "work.md": "- [ ] call Bob\n",
        }
    )
    assert vault.call("vault:tasks").content == (
        "2 open tasks:\nhome.md line 3: water the plants 📅 2027-02-01\nwork.md line 1: call Bob"
    )
    ticked = vault.call("vault:tick_task", text="water")
    assert ticked.receipt == "ticked 'water' in home.md"
    assert "- [x] water the plants" in vault.text("home.md")
    vault.call("vault:add_task", text="harvest", path="home", heading="Garden")
    assert vault.text("home.md").endswith("- [x] sow\n- [ ] harvest\n")
    vault.call("vault:add_task", text="call Ann")
    assert vault.text("2027-01-31.md") == "- [ ] call Ann\n"
    unclear = vault.call("vault:tick_task", text="call")
    assert not unclear.ok
    assert "2027-01-31.md line 1" in unclear.content
    assert "work.md line 1" in unclear.content
    assert not vault.call("vault:tick_task").ok


# Skills.


def test_a_skill_is_made_listed_and_read(vault):
    assert vault.call("skills:list").content == "There are no skills yet."
    made = vault.call(
        "skills:create", name="Meeting Minutes", description="After meetings.", body="1. List."
    )
    path = "Eris/Skills/meeting-minutes/SKILL.md"
    assert made.receipt == f"created the skill meeting-minutes in {path}"
    assert vault.text(path) == (
        "---\nname: meeting-minutes\ndescription: After meetings.\n---\n\n1. List.\n"
    )
    assert vault.call("skills:list").content == "The skills are:\nmeeting-minutes: After meetings."
    assert vault.call("skills:read", name="meeting minutes").content == "1. List."
    again = vault.call("skills:create", name="meeting-minutes", description="x", body="y")
    assert (again.ok, again.code) == (False, "conflict")
    missing = vault.call("skills:read", name="invoice")
    assert "There are: meeting-minutes." in missing.content


def test_a_broken_skill_hides_no_other_and_is_told_of(vault):
    skill = "---\nname: {0}\ndescription: x\n---\nbody\n"
    vault.fill(
        {
            "Eris/Skills/good/SKILL.md": skill.format("good"),
            "Eris/Skills/bad/SKILL.md": "---\nname: [\n---\n",
            "Eris/Skills/latin/SKILL.md": b"caf\xe9",
            "elsewhere/SKILL.md": skill.format("elsewhere"),
        }
    )
    told = vault.call("skills:list").content
    assert "good: x" in told
    assert "bad/SKILL.md" in told
    assert "elsewhere" not in told


# Failing.

FAILURES = {
    "climbing": ("vault:read", {"path": "../../etc/passwd"}, "denied", "climbs with '..'"),
    "absolute": ("vault:write", {"path": "/etc/x", "content": "x"}, "denied", "relative to"),
    "hidden": ("vault:read", {"path": ".eris/config.toml"}, "denied", "hidden"),
    "hidden folder": ("vault:list", {"folder": ".git"}, "denied", "hidden"),
    "settings": ("vault:edit", {"path": ".obsidian/app.json", "action": "replace", "target": "x"},
                 "denied", "hidden"),
    "into settings": ("vault:move", {"path": "today", "target": ".obsidian/"}, "denied", "hidden"),
    "missing": ("vault:read", {"path": "tody.md"}, "not-found", "Did you mean notes/today.md?"),
    "missing to edit": ("vault:append", {"path": "tody.md", "content": "x", "heading": "y"},
                        "not-found", "Did you mean notes/today.md?"),
    "no path": ("vault:read", {}, "invalid", "missing required field `path`"),
    "wrong mode": ("vault:write", {"path": "a", "content": "b", "mode": "w"}, "invalid", "mode"),
    "negative offset": ("vault:read", {"path": "a", "offset": -1}, "invalid", "offset"),
    "empty query": ("vault:search", {"query": "?"}, "invalid", "no words"),
    "unsound name": ("vault:write", {"path": "a?b.md", "content": "x"}, "invalid", "Use a-b.md"),
    "a reserved name": ("vault:move", {"path": "today", "target": "CON"}, "invalid", "CON"),
    "a bad query": ("vault:query", {"query": "status ="}, "invalid", ""),
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "sentence"), FAILURES.values(), ids=FAILURES.keys()
)
def test_a_failure_is_told_with_its_code_and_what_to_do(vault, tool, arguments, code, sentence):
    vault.fill({"notes/today.md": "x", ".obsidian/app.json": "{}"})
    before = vault.contents()
    result = vault.call(tool, **arguments)
    assert not result.ok
    assert result.code == code
    assert sentence in result.content
    assert result.receipt == ""
    assert vault.contents() == before


def test_a_vault_that_vanished_fails_every_tool_and_nothing_crashes(place, vault):
    place.rename(place.with_name("away"))
    for tool, arguments in (
        ("vault:read", {"path": "a.md"}),
        ("vault:write", {"path": "a.md", "content": "x"}),
        ("vault:append", {"path": "a.md", "content": "x"}),
        ("vault:move", {"path": "a.md", "target": "b.md"}),
        ("vault:daily", {}),
        ("vault:list", {}),
        ("vault:search", {"query": "x"}),
    ):
        result = vault.call(tool, **arguments)
        assert (result.ok, result.code) == (False, "storage"), tool
        assert "isn't there any more" in result.content


TOOLS = {
    *("vault:read", "vault:write", "vault:append", "vault:edit", "vault:list", "vault:search"),
    *("vault:query", "vault:taglist", "vault:links", "vault:move", "vault:delete", "vault:daily"),
    *(
        "vault:tasks",
        "vault:add_task",
        "vault:tick_task",
        "vault:undo",
        "skills:list",
        "skills:read",
        "skills:create",
    ),
}


def test_every_tool_is_declared_with_what_the_router_and_the_grammar_need(vault):
    declarations = {each.name: each for each in vault.toolbox.declarations()}
    assert set(declarations) == TOOLS
    for each in declarations.values():
        schema = json.loads(each.parameters)
        assert 5 <= len(each.hints) <= 8
        assert len(schema["properties"]) <= 5
        assert schema["additionalProperties"] is False
        assert set(each.aliases.values()) <= set(schema["properties"])
        assert not set(each.aliases) & set(schema["properties"])
        assert all("description" in field for field in schema["properties"].values())


def test_a_part_or_folder_that_nobody_has_does_not_keep_the_rest_from_being_found(vault):
    vault.fill({"plan.md": "# Plan\nBuy oats.\n"})
    read = vault.call("vault:read", path="plan", part="Kestrel")
    assert read.ok
    assert "Kestrel" in read.content.splitlines()[0]
    assert "Buy oats." in read.content
    unsaid = vault.call("vault:read", said="What does my plan say?", path="plan", part="heading")
    assert unsaid.content == vault.call("vault:read", path="plan").content
    unsaid = vault.call("vault:read", said="What does my plan say?", path="plan", line=40)
    assert unsaid.content == vault.call("vault:read", path="plan").content
    assert "has 3 lines" in vault.call("vault:read", said="line 40?", path="plan", line=40).content
    found = vault.call("vault:search", query="oats", folder="nowhere")
    assert found.ok
    assert "no folder nowhere" in found.content.splitlines()[0]
    assert "plan.md" in found.content
    lost = vault.call("vault:read", path="lost-and-never-found.md", part="x")
    assert not lost.ok
    assert "lost-and-never-found" in lost.content


def test_a_part_is_read_by_words_of_its_heading_that_no_other_has(vault):
    vault.fill({"plan.md": "# Plan\n## Open questions\nwho?\n## Open tasks\nwhat?\n## Log\n"})
    assert vault.call("vault:read", path="plan.md", part="questions").content == (
        "plan.md#Open questions:\n## Open questions\nwho?"
    )
    assert "which isn't in it" in vault.call("vault:read", path="plan", part="open").content


def test_a_path_that_is_no_note_is_the_note_that_the_user_named(vault):
    vault.fill({"Projects/Kestrel buoy.md": "---\naliases: [Kestrel]\n---\n## Questions\n\nx\n"})
    said = "Add a task under the heading Questions in Kestrel"
    added = vault.call(
        "vault:add_task", said=said, text="dive", path="Questions", heading="Questions"
    )
    assert "Projects/Kestrel buoy.md" in added.receipt
    assert "- [ ] dive" in vault.text("Projects/Kestrel buoy.md")
    assert vault.call("vault:add_task", said=said, text="swim").receipt.endswith("Kestrel buoy.md")
    assert vault.call("vault:read", said="Read the note Kestrel", path="notes/today.md").ok
    swum = vault.call("vault:add_task", text="rest", path="Kestrel", heading="Questions in Kestrel")
    assert swum.ok, swum.content
    assert not vault.call("vault:add_task", text="x", path="Kestrel", heading="Answers").ok
    # What nobody named isn't guessed.
    assert not vault.call("vault:read", said="Read it", path="notes/today.md").ok
