"""What the system says of itself, as a small model reads it."""

from actors.agenda.health import System, health_tools
from eris.errors import UnavailableError
from eris.tools import ToolBox
from proto.inference import DescribeModel, ModelDescription
from proto.memory import DescribeMemory, MemoryReport
from proto.supervisor import ActorStatus, Status, StatusReport
from proto.tools import CallTool, Origin


def actor(name, state="ready", **also):
    numbers = {"pid": 1, "restarts": 0, "uptime_seconds": 1.0, "rss_bytes": 50_000_000}
    numbers |= {"adopted": False, "mailbox": 0, "streams": 0, "handled": 0, "failed": 0}
    return ActorStatus(name=name, state=state, dropped={}, **(numbers | also))


def report(*actors):
    return StatusReport(
        version="0.1.0",
        vault="/notes",
        vault_id="v",
        pid=1,
        uptime_seconds=7500.0,
        state="ready",
        actors=actors,
    )


class Others:
    """The other processes; one without an answer doesn't answer."""

    def __init__(self, *answers):
        self.answers = {type(answer): answer for answer in answers}

    def ask(self, dst, body, expect, *, within):
        assert 0 < within < 10
        assert {Status: "erisd", DescribeModel: "inference", DescribeMemory: "memory"}[
            type(body)
        ] == dst
        if expect not in self.answers:
            raise UnavailableError(f"{dst} is away.")
        return self.answers[expect]


def told(folder, *answers):
    box = ToolBox(health_tools(System(Others(*answers), folder).lines))
    call = CallTool(
        call_id="1", tool="system:health", arguments="{}", origin=Origin.USER, session="s"
    )
    result = box.execute(call)
    assert result.ok
    assert not result.receipt
    return result.content.splitlines()


def test_what_is_well_is_one_line(tmp_path):
    lines = told(tmp_path, report(actor("bus"), actor("vault", restarts=2)))
    assert lines[:2] == [
        "Eris 0.1.0 is ready, up for 2 hours 5 minutes: 2 of 2 processes are well, and use 100 MB.",
        "Restarts: vault 2.",
    ]


def test_what_is_not_well_is_named_with_its_reason(tmp_path):
    failed = actor("router", "failed", detail="it can't be started")
    remark = actor("memory", detail="without an embedder")
    lines = told(tmp_path, report(actor("bus"), failed, remark))
    assert "2 of 3 processes are well" in lines[0]
    assert lines[1:3] == ["router is failed: it can't be started.", "memory: without an embedder"]


def test_whoever_does_not_answer_is_told_of_and_the_disk_all_the_same(tmp_path):
    lines = told(tmp_path)
    assert lines[:3] == [
        "The supervisor doesn't answer: erisd is away.",
        "The model doesn't answer: inference is away.",
        "The memory doesn't answer: memory is away.",
    ]
    assert lines[3].startswith("Disk: ")


def test_model_and_index_are_told(tmp_path):
    model = ModelDescription(
        name="small",
        path="/models/small.gguf",
        context_length=4096,
        trained_context_length=32_768,
        vocabulary=151_936,
        parameters=494_000_000,
        size_bytes=397_000_000,
        threads=2,
        load_seconds=1.0,
        template="chatml",
    )
    memory = MemoryReport(notes=144, documents=2, chunks=500, waiting=7, note="No embedder.")
    lines = told(tmp_path, report(actor("bus")), model, memory)
    assert lines[1:3] == [
        "Model: small, 397 MB, context of 4096 tokens.",
        "Index: 144 notes and 2 documents in 500 pieces, 7 wait. No embedder.",
    ]
