"""`eris memory` and `eris doc` against the real memory and vault, over a real bus."""

import json
import subprocess
import sys

import pytest

from tests.embedding import embedding_folder
from tests.support import processes, wait_until

pytestmark = [pytest.mark.process, pytest.mark.model]


class Caller:
    """Runs `eris` on the vault of some processes."""

    def __init__(self, system):
        self.system = system

    def __call__(self, *arguments, code=0):
        done = self.run(*arguments)
        assert done.returncode == code, done
        return done.stdout.decode()

    def json(self, *arguments, code=0):
        return json.loads(self(*arguments, "--json", code=code))

    def run(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "eris", *arguments],
            env=self.system.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )


@pytest.fixture(scope="module")
def eris(tmp_path_factory):
    embedding_folder()
    with processes(tmp_path_factory.mktemp("cli")) as group:
        (group.vault / "Ann.md").write_text("# Ann\n\nAnn is allergic to peanuts.\n")
        for name in ("bus", "vault", "memory"):
            group.start(name)
        caller = Caller(group)
        wait_until(lambda: caller.json("memory", "status")["embedder"], 60)
        wait_until(lambda: not caller.json("memory", "status")["waiting"], 60)
        yield caller


def test_a_fact_is_kept_found_explained_committed_and_forgotten(eris):
    kept = eris.json("memory", "add", "The alarm code is 4711.", "--title", "Alarm code")
    name = kept["memory"]["id"]
    assert "4711" in eris("memory", "search", "alarm code")
    assert "likeness" in eris("memory", "why", "alarm code")
    assert name in eris("memory", "list")
    committed = eris.json("memory", "commit", name)
    note = eris.system.vault / committed["memory"]["path"]
    assert "4711" in note.read_text()
    assert "Memory/Alarm code.md" in eris("memory", "list", "--state", "committed")
    eris("memory", "forget", name)
    assert not note.exists()
    assert eris("memory", "list") == ""


def test_documents_are_taken_in_listed_read_searched_and_taken_out(eris, tmp_path):
    manual = tmp_path / "boiler.html"
    manual.write_text("<title>Boiler</title><h1>Care</h1><p>Descale the boiler monthly.</p>")
    taken = eris.json("doc", "ingest", str(manual))["documents"][0]
    assert (taken["form"], taken["pages"]) == ("html", 1)
    assert str(manual) in eris("doc", "list")
    assert "Descale the boiler monthly." in eris("doc", "read", taken["id"])
    found = eris.json("doc", "query", "how often to remove limescale")["hits"][0]
    assert (found["path"], found["page"]) == (str(manual), 1)
    eris("doc", "delete", taken["id"])
    assert manual.exists()
    assert eris("doc", "list") == ""


def test_a_document_of_the_vault_is_named_by_its_path_there_and_read_as_a_whole(eris):
    lease = eris.system.vault / "Papers" / "lease.txt"
    lease.parent.mkdir()
    lease.write_text("".join(f"Clause {number}. Keep it warm.\n\n" for number in range(400)))
    taken = eris.json("doc", "ingest", "Papers/lease.txt")["documents"][0]
    assert taken["path"] == "Papers/lease.txt"
    assert taken["pages"] > 1
    pages = eris.json("doc", "read", "lease.txt", "--all")["pages"]
    assert len(pages) == taken["pages"]
    assert all(any(f"Clause {number}." in page for page in pages) for number in range(400))
    assert "Clause 399." in eris("doc", "read", taken["id"], "--page", str(taken["pages"]))
    eris("doc", "delete", taken["id"])
    assert lease.exists()


def test_what_cannot_be_done_is_a_sentence_with_what_to_do(eris, tmp_path):
    for arguments, told in (
        (("memory", "commit", "m99"), "no memory 'm99'"),
        (("doc", "read", "d99"), "d99"),
        (("doc", "ingest", str(tmp_path / "lost.pdf")), "lost.pdf"),
        (("doc", "read", "d99", "--all"), "d99"),
    ):
        failed = eris.json(*arguments, code=1)
        assert failed["ok"] is False
        assert told in failed["error"]["message"]


def test_the_index_is_built_anew_beside_the_old_one(eris):
    assert "edge" in eris("memory", "index")
    eris("memory", "index", "--rebuild")
    assert "peanuts" in eris("memory", "search", "peanuts")
    wait_until(lambda: not eris.json("memory", "status")["waiting"], 60)
    assert "peanuts" in eris("memory", "search", "what is Ann allergic to")
