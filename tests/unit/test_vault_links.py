"""Which file a link means, which place an anchor means, and how links are written."""

import pytest

from eris.vault.links import (
    Names,
    ambiguous,
    candidates,
    find_anchor,
    heading_anchor,
    link_text,
    resolve,
)
from eris.vault.note import Block, Heading, Note, Span
from eris.vault.settings import LinkFormat, Settings

VAULT = [
    "Home.md",
    "Food/Mint.md",
    "Food/Recipes/Mint tea.md",
    "Work/Index.md",
    "Work/Plans/Index.md",
    "Food/Index.md",
    "Work/Plans/Budget.md",
    "img/plan.png",
    "img/plan.png.md",
    "a.b.md",
    "Café.md",
    "Board.canvas",
    "Work/Home.md",
    "Z/Same.md",
    "Y/Same.md",
]


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("", "Home.md", "Home.md"),
        ("Mint", "Home.md", "Food/Mint.md"),  # V09
        ("mint", "Home.md", "Food/Mint.md"),
        ("Mint.md", "Home.md", "Food/Mint.md"),
        ("MINT.MD", "Home.md", "Food/Mint.md"),
        (" Mint ", "Home.md", "Food/Mint.md"),
        ("Food/Mint", "Work/Index.md", "Food/Mint.md"),
        ("/Food/Mint", "Work/Index.md", "Food/Mint.md"),
        ("/Mint", "Home.md", None),
        ("Recipes/Mint tea", "Home.md", "Food/Recipes/Mint tea.md"),
        ("Recipes/Mint\u00a0tea", "Home.md", "Food/Recipes/Mint tea.md"),
        ("ecipes/Mint tea", "Home.md", None),
        ("Index", "Home.md", "Food/Index.md"),  # as short as Work's, first in the alphabet
        ("Index", "Work/Plans/Budget.md", "Work/Plans/Index.md"),
        ("Plans/Index", "Work/Home.md", "Work/Plans/Index.md"),
        ("Home", "Work/Index.md", "Home.md"),  # from the root before by name
        ("./Home", "Work/Index.md", "Work/Home.md"),
        ("../Home", "Work/Index.md", "Home.md"),
        ("../../Home", "Work/Index.md", "Home.md"),  # nothing is above the root
        ("../Food/Mint.md", "Work/Index.md", "Food/Mint.md"),
        ("Plans/../Home", "Work/Index.md", "Work/Home.md"),
        ("Same", "Home.md", "Y/Same.md"),
        ("../Mint tea", "Work/Index.md", "Food/Recipes/Mint tea.md"),  # not there, so by name
        ("Index", "Work/Plans/Deep/Note.md", "Food/Index.md"),  # folders above don't count
        ("Budget", "Work/Index.md", "Work/Plans/Budget.md"),
        ("Same", "Z/Other.md", "Z/Same.md"),
        ("plan.png", "Home.md", "img/plan.png"),
        ("plan", "Home.md", None),
        ("plan.png.md", "Home.md", "img/plan.png.md"),
        ("a.b", "Home.md", "a.b.md"),
        ("Cafe\u0301", "Home.md", "Café.md"),
        ("CAFÉ", "Home.md", "Café.md"),
        ("Board", "Home.md", None),
        ("Board.canvas", "Home.md", "Board.canvas"),
        ("Nowhere", "Home.md", None),
        ("Food", "Home.md", None),
        ("..", "Home.md", None),
        ("/", "Home.md", None),
    ],
)
def test_a_link_means_what_it_means_in_obsidian(target, source, path):
    assert resolve(target, source, Names(VAULT)) == path
    found = candidates(target, source, Names(VAULT))
    assert (found[0] if found else None) == path


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("Index", ["Food/Index.md", "Work/Index.md", "Work/Plans/Index.md"]),
        ("Home", ["Home.md", "Work/Home.md"]),
        ("Food/Index", ["Food/Index.md"]),
        ("./Home", ["Home.md"]),
        ("Mint", ["Food/Mint.md"]),
        ("Nowhere", []),
    ],
)
def test_an_ambiguous_link_names_all_that_it_can_mean(target, found):
    # V11: reads may prefer the nearest, writes have to ask.
    assert candidates(target, "Home.md", Names(VAULT)) == found
    assert ambiguous(target, "Home.md", Names(VAULT)) is (len(found) > 1)


@pytest.mark.parametrize("target", ["Note", "note"])
def test_of_files_that_differ_in_case_the_one_as_written_is_meant(target):
    for paths in (["Note.md", "note.md"], ["a/Note.md", "a/note.md"]):
        found = resolve(target, "x/Source.md", Names(paths))
        assert found is not None
        assert found.endswith(f"{target}.md")


def test_names_follow_what_is_added_and_removed():
    names = Names(["a/Note.md"])
    names.add("b/Note.md")
    names.add("b/Note.md")
    assert resolve("Note", "b/x.md", names) == "b/Note.md"
    names.remove("b/Note.md")
    names.remove("b/Note.md")
    names.remove("Nowhere.md")
    assert resolve("Note", "b/x.md", names) == "a/Note.md"
    assert list(names) == ["a/Note.md"]
    assert "a/Note.md" in names
    assert "b/Note.md" not in names
    names.remove("a/Note.md")
    assert resolve("Note", "b/x.md", names) is None


def test_every_one_of_many_files_is_found_by_each_of_its_forms():
    paths = [f"f{number % 97}/g{number % 7}/Note {number}.md" for number in range(12_000)]
    names = Names(paths)
    for path in paths:
        short = path.removesuffix(".md")
        assert resolve(short, "x.md", names) == path
        assert resolve(short.partition("/")[2], "x.md", names) == path
        assert resolve(short.rpartition("/")[2].upper(), "x.md", names) == path


TEXT = """# Garden
## Water: daily!
text ^plan
# Kitchen
### Water: daily!
## Use of [[Mint|mint]]
"""


def outline(text: str) -> Note:
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    marked = [
        (start, len(line) - len(line.lstrip("#")), line.lstrip("#").strip())
        for start, line in zip(starts, lines, strict=True)
        if line.startswith("#")
    ]
    headings = []
    for number, (start, level, title) in enumerate(marked):
        later = (at for at, other, _ in marked[number + 1 :] if other <= level)
        span = Span(start, start + level + 1 + len(title))
        headings.append(Heading(span, level, title, Span(start, next(later, len(text)))))
    block = text.index("text ^plan")
    blocks = (Block(Span(block, block + len("text ^plan")), "plan"),)
    return Note(text, headings=tuple(headings), blocks=blocks)


@pytest.mark.parametrize(
    ("anchor", "starts"),
    [
        ("Garden", "# Garden\n## Water"),
        ("#Garden", "# Garden\n## Water"),
        ("garden", "# Garden\n## Water"),
        ("Water: daily!", "## Water: daily!\ntext"),
        ("Water daily", "## Water: daily!\ntext"),
        ("Kitchen#Water daily", "### Water: daily!\n"),
        ("Garden#Water daily", "## Water: daily!\ntext"),
        ("Use of Mint mint", "## Use of"),
        ("^plan", "text ^plan"),
        ("#^PLAN", "text ^plan"),
        ("Garden#^plan", "text ^plan"),
        ("Garden#Kitchen", None),
        ("Water daily#Garden", None),
        ("^other", None),
        ("", None),
        ("#", None),
        ("Gard", None),
    ],
)
def test_an_anchor_means_a_section_or_a_block(anchor, starts):
    span = find_anchor(outline(TEXT), anchor)
    if starts is None:
        assert span is None
    else:
        assert span is not None
        assert span.of(TEXT).startswith(starts)


def test_a_section_ends_before_the_next_of_its_level():
    span = find_anchor(outline(TEXT), "Garden")
    assert span is not None
    assert span.of(TEXT) == "# Garden\n## Water: daily!\ntext ^plan\n"


@pytest.mark.parametrize(
    "title", ["Water: daily!", "C# | D", "Use of [[Mint|mint]]", "a ^b", "50%% off", "x\\y"]
)
def test_the_anchor_made_of_a_title_finds_it(title):
    text = f"# {title}\n"
    note = Note(text, headings=(Heading(Span(0, len(text) - 1), 1, title, Span(0, len(text))),))
    anchor = heading_anchor(title)
    assert find_anchor(note, anchor) == Span(0, len(text))
    link = link_text("Home.md", "Work/Index.md", Names(VAULT), Settings(), anchor=anchor)
    assert link == f"[[Home#{anchor}]]"


SHORTEST, RELATIVE, ABSOLUTE = LinkFormat


@pytest.mark.parametrize(
    ("link_format", "target", "source", "wiki", "markdown"),
    [
        (SHORTEST, "Food/Mint.md", "Home.md", "Mint", "Mint.md"),
        (SHORTEST, "Food/Index.md", "Food/Mint.md", "Food/Index", "Food/Index.md"),
        (SHORTEST, "Home.md", "Food/Mint.md", "Home", "Home.md"),
        (SHORTEST, "Work/Home.md", "Work/Index.md", "Work/Home", "Work/Home.md"),
        (SHORTEST, "img/plan.png", "Home.md", "plan.png", "plan.png"),
        (SHORTEST, "img/plan.png.md", "Home.md", "plan.png.md", "plan.png.md"),
        (SHORTEST, "Food/Recipes/Mint tea.md", "Home.md", "Mint tea", "Mint%20tea.md"),
        (RELATIVE, "Food/Mint.md", "Food/Index.md", "Mint", "Mint.md"),
        (RELATIVE, "Food/Mint.md", "Work/Index.md", "../Food/Mint", "../Food/Mint.md"),
        (RELATIVE, "Work/Plans/Budget.md", "Work/Index.md", "Plans/Budget", "Plans/Budget.md"),
        (RELATIVE, "Work/Home.md", "Work/Index.md", "./Home", "./Home.md"),
        (ABSOLUTE, "Food/Mint.md", "Food/Index.md", "Food/Mint", "Food/Mint.md"),
        (ABSOLUTE, "Home.md", "Work/Index.md", "Home", "Home.md"),
    ],
)
def test_links_are_written_as_the_settings_want(link_format, target, source, wiki, markdown):
    names = Names(VAULT)
    settings = Settings(link_format=link_format)
    name = f"|{target.rpartition('/')[2].removesuffix('.md')}" if "/" in wiki else ""
    assert link_text(target, source, names, settings) == f"[[{wiki}{name}]]"
    assert resolve(wiki, source, names) == target
    settings = Settings(link_format=link_format, markdown_links=True)
    assert link_text(target, source, names, settings, shown="x") == f"[x]({markdown})"


@pytest.mark.parametrize(
    ("more", "wiki", "markdown"),
    [
        ({}, "[[Mint tea]]", "[Mint tea](Mint%20tea.md)"),
        ({"shown": "tea"}, "[[Mint tea|tea]]", "[tea](Mint%20tea.md)"),
        ({"shown": "Mint tea"}, "[[Mint tea]]", "[Mint tea](Mint%20tea.md)"),
        ({"anchor": "^ab"}, "[[Mint tea#^ab]]", "[Mint tea](Mint%20tea.md#^ab)"),
        ({"anchor": "A b#C"}, "[[Mint tea#A b#C]]", "[Mint tea](Mint%20tea.md#A%20b#C)"),
        ({"embed": True}, "![[Mint tea]]", "![](Mint%20tea.md)"),
        ({"embed": True, "shown": "100"}, "![[Mint tea|100]]", "![100](Mint%20tea.md)"),
        ({"shown": "a ] b"}, "[[Mint tea|a ] b]]", "[a \\] b](Mint%20tea.md)"),
        ({"shown": "a [1]"}, "[a \\[1\\]](Mint%20tea.md)", "[a \\[1\\]](Mint%20tea.md)"),
    ],
)
def test_anchors_shown_text_and_embeds(more, wiki, markdown):
    names = Names(VAULT)
    target = "Food/Recipes/Mint tea.md"
    assert link_text(target, "Home.md", names, Settings(), **more) == wiki
    settings = Settings(markdown_links=True)
    assert link_text(target, "Home.md", names, settings, **more) == markdown


def test_a_place_in_the_same_note_needs_no_name():
    names = Names(VAULT)
    assert link_text("Home.md", "Home.md", names, Settings(), anchor="Now") == "[[#Now]]"
    settings = Settings(markdown_links=True)
    assert link_text("Home.md", "Home.md", names, settings, anchor="Now") == "[Now](#Now)"


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("C# notes.md", "[C# notes](C%23%20notes.md)"),
        ("a|b.md", "[a|b](a%7Cb.md)"),
        ("a [1].md", "[a \\[1\\]](a%20%5B1%5D.md)"),
        ("a^b.md", "[a^b](a^b.md)"),
        ("50%% off.md", "[50%% off](50%25%25%20off.md)"),
        ("50% (off).md", "[[50% (off)]]"),
        ("übrig.md", "[[übrig]]"),
    ],
)
def test_a_name_that_no_wiki_link_can_have_gets_a_markdown_link(name, link):
    assert link_text(name, "Home.md", Names([name]), Settings()) == link


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("a/b.md", "a/b.md"),
        ("Ünï cödé.md", "Ünï%20cödé.md"),
        ("50% off) <x>.md", "50%25%20off%29%20%3Cx%3E.md"),
        ("what? why: #1.md", "what%3F%20why%3A%20%231.md"),
        ("AT&amp;T.md", "AT%26amp;T.md"),
    ],
)
def test_addresses_are_encoded_where_markdown_needs_it_and_no_further(path, address):
    settings = Settings(markdown_links=True, link_format=LinkFormat.ABSOLUTE)
    assert link_text(path, "Home.md", Names([path]), settings, shown="x") == f"[x]({address})"
