"""A vault of any size, the same for the same seed: for measuring, and for tests that need many.

    python -m tests.vault_generator FOLDER [NOTES]

It has what real vaults have: several languages, names that are hard to link, every feature of
Obsidian's Markdown, notes that other editors left in their own style, and a hub that a fifth of
the notes link to. Words are made of syllables and are as unequal in number as those of a language.
"""

# ruff: noqa: RUF001 - letters of many scripts, on purpose
import json
import random
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from urllib.parse import quote

HUB = "Hub.md"
"""The note that a fifth of the others link to."""

NOTE_BYTES = 6000
LINKS = 5
"""Of each note, the one to the hub not counted."""

_FOLDERS = (
    "", "Inbox", "Projects", "Projects/Garden 2026", "Projects/Straßenbau", "Area/Health",
    "Area/Money & Taxes", "Archive/2019", "Archive/2020", "People", "日記", "Проекты/Дом",
)  # fmt: skip
_AWKWARD = (
    "{} (copy)", "{} & more", "{}'s notes", "100% {}", "{} + {{x}}", "C# {}", "{}, again.v2",
    "{} – draft", "¿{}?", "~{}~", "{} [old]", "-{}", "{}.md", "Ünïcödé {}", "Cafe\u0301 {}",
    "🌱 {}", "笔记 {}", "メモ{}", "메모 {}", "заметка {}", "σημείωση {}", "ملاحظة {}", "บันทึก {}",
)  # fmt: skip
_SYLLABLES = {
    "en": "ba con de fer gar in ka lo mi na or per qui ra sta ter un vi wa zen",
    "de": "ber chä dorf en für ge hau ken lö mit schn ster ung ver waß zu",
    "fr": "aiè bou cé des eau franç lê ment où que riè tion vous",
    "ru": "ба во го де жи за ко ли мо на по ра ст ть че щу",
    "el": "αν βα γι δε ει ζω ημ θα κο λό μα νέ ος πά ρι",
    "ar": "ال با تر جم حد خر در سل شم عل في كت مر نو",
    "hi": "का खि गु चे जो टा दे नी पा बु मे रा ला सी",
}
_UNSPACED = {
    "zh": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过",
    "ja": "のにはをたがでてとしれさあるいるもなことよりまで日本人一年大国学生電車東京水",
    "th": "กขคงจชดตถทนบปพฟมยรลวสหอ",
    "ko": "가나다라마바사아자하고도로모보소오조호기니리미비시이지",
}
_LANGUAGES = ("en",) * 10 + ("de", "de", "fr", "ru", "el", "ar", "hi", "zh", "ja", "th", "ko")


class _Words:
    """Words of one language; the first are common, the last rare."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self._joined = "" if language in _UNSPACED else " "
        parts = _SYLLABLES[language].split() if language in _SYLLABLES else _UNSPACED[language]
        longest = 2 if language in _UNSPACED else 4
        words = {"".join(rng.choices(parts, k=rng.randint(1, longest))) for _ in range(12_000)}
        self.words = sorted(words)
        rng.shuffle(self.words)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def text(self, rng: random.Random, count: int) -> str:
        return self._joined.join(rng.choices(self.words, cum_weights=self._weights, k=count))


def _paragraph(words: _Words, rng: random.Random) -> str:
    marks = ("{}", "{}", "**{}**", "*{}*", "=={}==", "~~{}~~", "`[[{}]] #code`", "%%[[{}]]%%")
    pieces = [words.text(rng, rng.randint(8, 25)) for _ in range(rng.randint(2, 5))]
    emphasis = rng.choice(marks).format(words.text(rng, 2))
    return ". ".join(pieces) + f" {emphasis}. {rng.choice(('', 'https://example.org/#a'))}"


def _heading(words: _Words, rng: random.Random) -> str:
    title = words.text(rng, rng.randint(1, 4))
    return rng.choice((f"## {title}", f"### {title} ###", f"## {title}", f"{title}\n---"))


def _list(words: _Words, rng: random.Random) -> str:
    return "\n".join(
        f"{'  ' * (index % 3)}{rng.choice(('-', '*', '1.'))} {words.text(rng, 6)}"
        for index in range(rng.randint(2, 8))
    )


def _tasks(words: _Words, rng: random.Random) -> str:
    return "\n".join(
        f"- [{rng.choice(' xX/-')}] {words.text(rng, 5)} 📅 2026-{rng.randint(1, 12):02}-11"
        for _ in range(rng.randint(1, 5))
    )


def _table(words: _Words, rng: random.Random) -> str:
    rows = "\n".join(f"| {words.text(rng, 2)} | a \\| b | #cell |" for _ in range(3))
    return f"| one | two | three |\n|:--|:-:|---|\n{rows}"


def _callout(words: _Words, rng: random.Random) -> str:
    return f"> [!note]- {words.text(rng, 3)}\n> {words.text(rng, 12)}\n> > nested #callout"


def _code(words: _Words, rng: random.Random) -> str:
    fence = rng.choice(("```", "~~~"))
    return f'{fence}bash\n[[ ! -f "$F" ]] && echo #no-tag\n{words.text(rng, 4)}\n{fence}'


def _others(words: _Words, rng: random.Random) -> str:
    text = words.text(rng, 3)
    return rng.choice(
        (
            f"$$\nx_{{1}} = [[no link]] #no\n$$\n\nAnd $y^2$, {text}.",
            f"%%\n{text} [[hidden]]\n%%",
            f"A claim[^1], ^[inline {text}].\n\n[^1]: {text}",
            f"<div class='x'>{text}</div>",
            f"---\n\n{text} ^block-{rng.randint(1, 99)}",
            f"    indented [[code]] {text}",
            f"Line one  \nline two\\\nline three {text} &amp; \\#escaped",
            f"A #tag/{'abc'[rng.randrange(3)]} and #项目 and #2026 {text}",
        )
    )


_BLOCKS: tuple[Callable[[_Words, random.Random], str], ...] = (
    *((_paragraph,) * 9), _heading, _heading, _list, _tasks, _table, _callout, _code, _others,
)  # fmt: skip


def paths(count: int, seed: int = 4) -> list[str]:
    """Return the paths of a vault's notes; the hub is the first."""
    rng = random.Random(seed)
    words = _Words("en", rng)
    found = {HUB: None}
    while len(found) < count:
        name = words.text(rng, rng.randint(1, 3)) + (f" {len(found)}" if rng.random() < 0.9 else "")
        if rng.random() < 0.15:
            name = rng.choice(_AWKWARD).format(name)
        folder = rng.choice(_FOLDERS)
        found[f"{folder}/{name}.md" if folder else f"{name}.md"] = None
    return list(found)


def notes(count: int, seed: int = 4, size: int = NOTE_BYTES) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each note of a vault.

    Args:
        count: How many.
        seed: What it depends on, and nothing else.
        size: Bytes of a note, on average.
    """
    rng = random.Random(seed)
    languages = {language: _Words(language, rng) for language in dict.fromkeys(_LANGUAGES)}
    everything = paths(count, seed)
    to_hub = set(rng.sample(everything[1:], count // 5)) if count > 1 else set()
    for path in everything:
        words = languages[rng.choice(_LANGUAGES)]
        blocks = [f"# {words.text(rng, 3)}"]
        left = 0.8 * (rng.expovariate(1 / size) * 0.8 + size * 0.2)
        while left > 0:
            block = rng.choice(_BLOCKS)(words, rng)
            blocks.append(block)
            left -= len(block.encode())
        targets = [rng.choice(everything) for _ in range(LINKS)]
        links = [_link(target, rng) for target in targets]
        if path in to_hub:
            links.append(rng.choice(("[[Hub]]", "[[Hub#Start|the hub]]", "[hub](Hub.md)")))
        for link in links:
            at = rng.randint(1, len(blocks))
            blocks.insert(at, f"{words.text(rng, 4)} {link} {words.text(rng, 4)}")
        yield path, _styled(_frontmatter(words, rng) + "\n\n".join(blocks) + "\n", rng)


def _link(target: str, rng: random.Random) -> str:
    if rng.random() < 0.02:
        return f"[[missing {rng.randrange(1000)}]]"
    shortest = target.rpartition("/")[2].removesuffix(".md")
    if rng.random() < 0.2 or set(target) & set("#^[]|"):
        return f"[{rng.choice(('shown', 'x y'))}]({quote(target)})"
    anchor = rng.choice(("", "", "", "#Start", "#^block-1"))
    shown = rng.choice(("", "", "|shown text"))
    written = rng.choice((shortest, shortest, target.removesuffix(".md")))
    return f"{rng.choice(('', '', '', '!'))}[[{written}{anchor}{shown}]]"


def _frontmatter(words: _Words, rng: random.Random) -> str:
    if rng.random() < 0.4:
        return ""
    if rng.random() < 0.01:
        return "---\nstatus: open\naliases:\na\n---\n"
    lines = [
        f"status: {rng.choice(('open', 'done', 'waiting'))}  # changed by hand",
        f"due: 20{rng.randint(24, 27)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        f"rating: {rng.randint(1, 5)}",
        f"tags: [{rng.choice(('project', 'reading', 'garden/beds'))}, area/{rng.randint(1, 30)}]",
        f'aliases:\n  - "{words.text(rng, 2)}"',
        'related: "[[Hub]]"' if rng.random() < 0.02 else "related:",
        "published: true",
    ]
    rng.shuffle(lines)
    return "\n".join(("---", *lines[: rng.randint(2, len(lines))], "---", ""))


def _styled(text: str, rng: random.Random) -> bytes:
    """A text as other editors save it, now and then."""
    chance = rng.random()
    if chance < 0.03:
        text = text.replace("\n", "\r\n")
    elif chance < 0.05:
        text = "\ufeff" + text
    elif chance < 0.15:
        text = text.rstrip("\n")
    return text.encode()


def generate(folder: Path, count: int, seed: int = 4, size: int = NOTE_BYTES) -> int:
    """Write a vault, with settings, some pictures and a canvas; return the bytes of its notes.

    Args:
        folder: Where to; it's made.
        count: How many notes.
        seed: What it depends on, and nothing else.
        size: Bytes of a note, on average.
    """
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    written = 0
    for path, content in notes(count, seed, size):
        (folder / path).write_bytes(content)
        written += len(content)
    (folder / ".obsidian").mkdir(exist_ok=True)
    (folder / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["Archive/2019/"]}')
    for number in range(count // 50):
        (folder / "Inbox" / f"picture {number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    place = {"x": 0, "y": 0, "width": 9, "height": 9}
    cards = [
        {"id": "1", "type": "file", "file": HUB, **place},
        {"id": "2", "type": "text", "text": "See [[Hub]] #board", **place},
    ]
    (folder / "Board.canvas").write_text(json.dumps({"nodes": cards, "edges": []}, indent="\t"))
    return written


if __name__ == "__main__":
    print(generate(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000), "bytes")
