"""Links after files are moved or renamed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eris.vault.bases import rewritten_base
from eris.vault.canvas import FileCard, cards_of, rewritten_canvas
from eris.vault.links import Names, candidates, resolve
from eris.vault.markdown import parse
from eris.vault.moving import heading_renamed, rewritten, touched_names
from eris.vault.names import folded
from eris.vault.settings import LinkFormat, Settings


def after_moves(text, path, moves, paths, chosen=None):
    after = Names(moves.get(other, other) for other in paths)
    return rewritten(parse(text), path, moves, Names(paths), after, chosen or Settings())


VAULT = ["inbox/idea.md", "Home.md", "inbox/other.md", "work/plan.md", "img/a b.png", "Mint.md"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # V10
        ("[[inbox/idea]]", "[[archive/better idea]]"),
        ("![[inbox/idea]]", "![[archive/better idea]]"),
        ("[link](inbox/idea.md)", "[link](archive/better%20idea.md)"),
        ("[[inbox/idea|my idea]]", "[[archive/better idea|my idea]]"),
        ("[[inbox/idea#Some heading]]", "[[archive/better idea#Some heading]]"),
        ("[[inbox/idea#^block-1|x]]", "[[archive/better idea#^block-1|x]]"),
        ("![[inbox/idea#A#B]]", "![[archive/better idea#A#B]]"),
        # in its own style
        ("[[idea]]", "[[better idea]]"),
        ("[[IDEA]]", "[[better idea]]"),
        ("[[idea.md]]", "[[better idea.md]]"),
        ("[[inbox/idea.md|x]]", "[[archive/better idea.md|x]]"),
        ("[[/inbox/idea]]", "[[/archive/better idea]]"),
        ("[[./inbox/idea]]", "[[./archive/better idea]]"),
        ("[x](./inbox/idea.md#A%20b)", "[x](./archive/better%20idea.md#A%20b)"),
        ('[x](inbox/idea.md "title")', '[x](archive/better%20idea.md "title")'),
        ("[x](<inbox/idea.md>)", "[x](<archive/better idea.md>)"),
        ("[x](idea)", "[x](better%20idea)"),
        ("![x](idea.md)", "![x](better%20idea.md)"),
        ("| a | [[idea\\|x]] |", "| a | [[better idea\\|x]] |"),
        ('---\nup: "[[inbox/idea]]"\n---\n', '---\nup: "[[archive/better idea]]"\n---\n'),
        ("[[idea]] [[Home]] [[idea|b]]", "[[better idea]] [[Home]] [[better idea|b]]"),
    ],
)
def test_every_kind_of_link_follows_a_renamed_note(old, new):
    moves = {"inbox/idea.md": "archive/better idea.md"}
    text = f"{old}\r\nbefore \t\n{old} after"
    if old.startswith("---"):
        text = f"{old}body\r\n"
        assert after_moves(text, "Home.md", moves, VAULT) == f"{new}body\r\n"
        return
    expected = f"{new}\r\nbefore \t\n{new} after"
    assert after_moves(text, "Home.md", moves, VAULT) == expected
    assert after_moves(expected, "Home.md", moves, [*VAULT[1:], *moves.values()]) is None


@pytest.mark.parametrize(
    "text",
    [
        "[[idea]]",  # the name alone still finds it
        "[[idea#Heading|x]]",
        "[[Home]]",
        "[[#Heading]]",
        "[[Nowhere]]",
        "[[better]]",
        "no link",
        "",
    ],
)
def test_links_that_still_mean_their_file_stay_as_they_are(text):
    assert after_moves(text, "Home.md", {"inbox/idea.md": "archive/idea.md"}, VAULT) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[../work/plan]]", "[[../../work/plan]]"),
        ("[x](../work/plan.md)", "[x](../../work/plan.md)"),
        ("[[./other]]", "[[../../inbox/other]]"),
        ("![](../img/a%20b.png)", "![](../../img/a%20b.png)"),
        ("![[../img/a b.png|100]]", "![[../../img/a b.png|100]]"),
        ("[[work/plan]]", None),
        ("[[other]]", None),
        ("[[../inbox/idea#Self]]", "[[idea#Self]]"),
        ("[[#Self]]", None),
    ],
)
def test_relative_links_of_a_note_that_moves_are_written_from_its_new_place(old, new):
    moves = {"inbox/idea.md": "deep/er/idea.md"}
    assert after_moves(old, "inbox/idea.md", moves, VAULT) == new


def test_files_that_move_together_keep_their_relative_links():
    moves = {"inbox/idea.md": "deep/er/idea.md", "inbox/other.md": "deep/er/other.md"}
    assert after_moves("[[./other]] [x](other.md)", "inbox/idea.md", moves, VAULT) is None


def test_two_notes_that_change_places_keep_their_inbound_links():
    moves = {"inbox/idea.md": "inbox/other.md", "inbox/other.md": "inbox/idea.md"}
    text = "[[idea]] [[inbox/other|o]]"
    assert after_moves(text, "Home.md", moves, VAULT) == "[[other]] [[inbox/idea|o]]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[Mint]]", "[[shop/Mint]]"),
        ("[[Mint|m]]", "[[shop/Mint|m]]"),
        ("[x](Mint.md)", "[x](shop/Mint.md)"),
    ],
)
def test_a_link_to_a_file_that_stays_gets_longer_when_another_takes_its_name(old, new):
    paths = ["shop/Mint.md", "Home.md", "Peppermint.md"]
    assert after_moves(old, "Home.md", {"Peppermint.md": "Mint.md"}, paths) == new
    assert "mint" in touched_names({"Peppermint.md": "Mint.md"})


def test_a_name_that_would_be_ambiguous_becomes_a_path():
    paths = ["a/Old.md", "b/New.md", "Home.md"]
    assert after_moves("[[Old]]", "Home.md", {"a/Old.md": "a/New.md"}, paths) == "[[a/New]]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[Mint]]", "[[shop/Mint]]"),
        ("[[mint|m]]", "[[shop/Mint|m]]"),
        ("[[shop/Mint]] [[./shop/Mint]]", None),
    ],
)
def test_a_link_that_would_become_ambiguous_gets_longer(old, new):
    paths = ["shop/Mint.md", "Home.md", "garden/Peppermint.md"]
    moves = {"garden/Peppermint.md": "garden/Mint.md"}
    assert after_moves(old, "Home.md", moves, paths) == new


def test_a_relative_link_leads_straight_to_its_file_even_if_the_name_would_be_found():
    moves = {"work/plan.md": "work/old/plan.md"}
    assert after_moves("[[../work/plan]]", "inbox/idea.md", moves, VAULT) == "[[../work/old/plan]]"
    # This one was only found by its name before.
    assert after_moves("[[../plan]]", "inbox/idea.md", moves, VAULT) is None


def test_relative_settings_keep_names_in_the_same_folder_relative():
    chosen = Settings(link_format=LinkFormat.RELATIVE)
    moves = {"inbox/other.md": "work/later.md"}
    assert after_moves("[[other]]", "inbox/idea.md", moves, VAULT, chosen) == "[[../work/later]]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[idea]]", "[C# idea](C%23%20idea.md)"),
        ("![[idea|x]]", "![x](C%23%20idea.md)"),
        ("[[idea#Head]]", "[C# idea](C%23%20idea.md#Head)"),
        ("[x](idea.md)", "[x](C%23%20idea.md)"),
        ('---\nup: "[[idea]]"\n---\n', None),
    ],
)
def test_a_name_that_no_wiki_link_can_have(old, new):
    assert after_moves(old, "Home.md", {"inbox/idea.md": "inbox/C# idea.md"}, VAULT) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[x](%C3%BCbrig.md)", "[x](%C3%A4rger%20%C3%BC.md)"),
        ("[x](übrig.md)", "[x](ärger%20ü.md)"),
    ],
)
def test_addresses_stay_encoded_as_they_were(old, new):
    moves = {"a/übrig.md": "a/ärger ü.md"}
    assert after_moves(old, "Home.md", moves, ["a/übrig.md", "Home.md"]) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('up: "[[idea]]"', 'up: "[[it\'s]]"'),
        ("up: '[[idea]]'", "up: '[[it''s]]'"),
        ("up: ['[[idea]]', \"[[idea|x]]\"]", "up: ['[[it''s]]', \"[[it's|x]]\"]"),
        ("it's: see [[idea]]", "it's: see [[it's]]"),
    ],
)
def test_links_in_properties_are_quoted_for_yaml(old, new):
    text = f"---\n{old}\n---\n"
    expected = f"---\n{new}\n---\n"
    assert after_moves(text, "Home.md", {"inbox/idea.md": "inbox/it's.md"}, VAULT) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[plan#To do: now]]", "[[plan#C wish list]]"),
        (
            "[[plan#to do now|x]] ![[work/plan#A#To do now]]",
            "[[plan#C wish list|x]] ![[work/plan#A#C wish list]]",
        ),
        ("[[plan#To do now#Later]]", "[[plan#C wish list#Later]]"),
        ("[x](work/plan.md#To%20do:%20now)", "[x](work/plan.md#C%20wish%20list)"),
        ("[x](<work/plan.md#To do: now>)", "[x](<work/plan.md#C wish list>)"),
        ('---\nup: "[[plan#To do now]]"\n---\n', '---\nup: "[[plan#C wish list]]"\n---\n'),
        ("[[Home#To do now]] [[#To do now]] [[plan]] [[plan#^to-do-now]] [[plan#To do]]", None),
    ],
)
def test_links_to_a_heading_get_its_new_title(old, new):
    names = Names(VAULT)
    assert (
        heading_renamed(
            parse(old), "Home.md", "work/plan.md", "To do: now", "C# wish [[list]]", names
        )
        == new
    )


def test_links_within_the_note_itself_get_the_new_title():
    text = "[[#Old]] [x](#Old) [[Home#Old]]"
    args = (parse(text), "Home.md", "Home.md", "Old")
    assert heading_renamed(*args, "New", Names(VAULT)) == "[[#New]] [x](#New) [[Home#New]]"
    assert heading_renamed(*args, "Old!", Names(VAULT)) is None


names_of_files = st.sampled_from(["a", "b", "A", "a b", "ü", "a.b", "c#d", "x%20y", "(p"])
folders = st.sampled_from(["", "f/", "g/", "f/g/", "F x/"])
files = st.builds(
    lambda folder, name, ending: f"{folder}{name}{ending}",
    folders,
    names_of_files,
    st.sampled_from([".md", ".md", ".png"]),
)
vaults = st.lists(files, min_size=2, max_size=7, unique_by=folded)


@st.composite
def written_links(draw, paths):
    path = draw(st.sampled_from(paths))
    target = draw(
        st.sampled_from([path, path.rpartition("/")[2], f"/{path}", f"../{path}", f"./{path}"])
    )
    if draw(st.booleans()):
        target = target.removesuffix(".md")
    anchor = draw(st.sampled_from(["", "#Head", "#A#B", "#^b1"]))
    bang = draw(st.sampled_from(["", "!"]))
    match draw(st.sampled_from(["wiki", "shown", "markdown", "angles"])):
        case "wiki":
            return f"{bang}[[{target}{anchor}]]"
        case "shown":
            return f"{bang}[[{target}{anchor}|shown]]"
        case "markdown":
            quoted = target.replace("%", "%25").replace(" ", "%20").replace("#", "%23")
            quoted = quoted.replace("(", "%28")
            return f"{bang}[shown]({quoted}{anchor})"
        case _:
            quoted = target.replace("%", "%25").replace("#", "%23")
            return f"{bang}[shown](<{quoted}{anchor}>)"


@st.composite
def moved_vaults(draw):
    paths = draw(vaults)
    moved = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=3, unique=True))
    moves: dict[str, str] = {}
    taken = {folded(path) for path in paths if path not in moved}
    for path in moved:
        name = draw(files).rsplit(".", 1)[0] + path[path.rindex(".") :]
        if folded(name) not in taken:
            moves[path] = name
            taken.add(folded(name))
        else:
            moves[path] = path
            taken.add(folded(path))
    text = "start\n"
    for link in draw(st.lists(written_links(paths), max_size=5)):
        text += f"{link} \t|ü\r\n"
    return paths, moves, draw(st.sampled_from(paths)), text, draw(st.sampled_from(LinkFormat))


@settings(max_examples=100, deadline=None)
@given(moved_vaults())
def test_every_link_means_the_same_file_after_any_move_and_back(case):
    paths, moves, path, text, link_format = case
    if len(set(map(folded, (moves.get(other, other) for other in paths)))) < len(paths):
        return  # Two files can't be moved to one place.
    chosen = Settings(link_format=link_format)
    before, after = Names(paths), Names(moves.get(other, other) for other in paths)
    new_path = moves.get(path, path)
    old = parse(text)
    new_text = rewritten(old, path, moves, before, after, chosen)
    new = parse(text if new_text is None else new_text)
    assert new_text != text
    assert len(old.links) == len(new.links)
    assert outside_of_links(old) == outside_of_links(new)
    touched = touched_names(moves)
    for was, now in zip(old.links, new.links, strict=True):
        meant = resolve(was.target, path, before)
        if meant is None:
            assert now.span.of(new.text) == was.span.of(old.text)
            continue
        assert resolve(now.target, new_path, after) == moves.get(meant, meant)
        assert (now.anchor, now.embed) == (was.anchor, was.embed)
        if was.shown is not None:
            assert now.shown == was.shown
        if now.span.of(new.text) != was.span.of(old.text) and new_path == path:
            name = folded(was.target.rpartition("/")[2])
            assert {name, name.removesuffix(".md")} & touched
        relative = was.target.startswith(".") or link_format is LinkFormat.RELATIVE
        if not relative and candidates(was.target, new_path, after) == [moves.get(meant, meant)]:
            assert now.span.of(new.text) == was.span.of(old.text)
    back = {new: old for old, new in moves.items()}
    back_text = rewritten(new, new_path, back, after, before, chosen)
    restored = parse(new.text if back_text is None else back_text)
    assert outside_of_links(restored) == outside_of_links(old)
    for was, now in zip(old.links, restored.links, strict=True):
        meant = resolve(was.target, path, before)
        if meant is not None:
            assert resolve(now.target, path, before) == meant


def outside_of_links(note):
    ends = [0, *(link.span.end for link in note.links)]
    starts = [*(link.span.start for link in note.links), len(note.text)]
    return [note.text[end:start] for end, start in zip(ends, starts, strict=True)]


CANVAS = """{
\t"nodes":[
\t\t{"id":"1","file":"inbox/idea.md","type":"file","subpath":"#Head","x":-1.50,"y":0},
\t\t{"id":"2","type":"text","text":"inbox/idea.md","file":"inbox/idea.md"},
\t\t{"id":"3","type":"file","file":"caf\\u00e9.md"}, {"type":"group","background":"img/a b.png"},
\t\t{"type":"link","url":"inbox/idea.md"}
\t],
\t"edges":[{"id":"e","fromNode":"1","file":"inbox/idea.md"}],  "nested":{"nodes":[{"file":"x"}]}
}
"""


def test_a_canvas_gets_new_paths_and_nothing_else():
    moves = {"inbox/idea.md": 'a/"ü".md', "café.md": "ü.md", "img/a b.png": "c.png"}
    expected = (
        CANVAS.replace('"1","file":"inbox/idea.md"', '"1","file":"a/\\"ü\\".md"', 1)
        .replace("caf\\u00e9.md", "\\u00fc.md")
        .replace("img/a b.png", "c.png")
    )
    assert rewritten_canvas(CANVAS, moves) == expected
    assert rewritten_canvas("\ufeff" + CANVAS, moves) == "\ufeff" + expected
    files = [card.path for card in cards_of(expected) if isinstance(card, FileCard)]
    assert files == ['a/"ü".md', "ü.md", "c.png"]


def test_a_canvas_in_which_nothing_moved_stays():
    assert rewritten_canvas(CANVAS, {"other.md": "x.md", "x": "y"}) is None


def test_links_on_text_cards_are_rewritten_and_other_cards_stay():
    text = """{"nodes":[
 {"type":"text","text":"see [[idea]]\\n\\t\\"x\\"", "id":"a"},
 {"type":"text","text":"\\u00fc [[Home]]"},
 {"type":"group","text":"[[idea]]"}]}"""
    moves = {"inbox/idea.md": "inbox/Idee ü.md"}
    before, after = Names(VAULT), Names(moves.get(path, path) for path in VAULT)

    def card(markdown):
        return rewritten(parse(markdown), "Board.canvas", moves, before, after, Settings())

    expected = text.replace("see [[idea]]", "see [[Idee ü]]")
    assert rewritten_canvas(text, moves, card) == expected
    assert rewritten_canvas(text, moves) is None
    assert [card.markdown for card in cards_of(text)] == ['see [[idea]]\n\t"x"', "ü [[Home]]"]


BASE = """# notes about the idea
filters:
  and:
    - 'file.hasLink("inbox/idea.md") && file.path != "inbox/idea"'
    - file.name == "idea"
    - 'inbox/idea.md'
    - file.inFolder("inbox")
    - "inbox/idea.md is here"   # it's "inbox/idea"
"""


def test_a_base_gets_new_paths_only_where_it_names_the_whole_path():
    moves = {"inbox/idea.md": "archive/better idea.md", "x.md": "y.md"}
    expected = (
        BASE.replace('("inbox/idea.md")', '("archive/better idea.md")')
        .replace("'inbox/idea.md'", "'archive/better idea.md'")
        .replace('"inbox/idea"', '"archive/better idea"')
    )
    assert rewritten_base(BASE, moves) == expected
    assert rewritten_base(expected, moves) is None
    assert rewritten_base(BASE, {}) is None
    assert rewritten_base(BASE, {"inbox/idea.md": "it's.md"}) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"nodes": 3}', '{"nodes": [3, null, "a"]}', "[" * 100_000, "\ufeff"]
)
def test_what_is_no_canvas_is_left_alone(text):
    assert not cards_of(text)
    assert rewritten_canvas(text, {"a": "b"}) is None


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["nodes", "file", "type", 'k"']), inner)
        ),
    )
)
def test_any_json_in_a_canvas_keeps_all_other_values(other):
    canvas = {"o": other, "nodes": [{"x": other, "type": "file", "file": "a"}], "z": other}
    changed = {"o": other, "nodes": [{"x": other, "type": "file", "file": "b"}], "z": other}
    for indent in (None, 1):
        text = json.dumps(canvas, indent=indent)
        assert rewritten_canvas(text, {"a": "b"}) == json.dumps(changed, indent=indent)
