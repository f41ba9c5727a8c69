"""Telling whole GGUF files from damaged ones and from other files."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import ErisError, ModelError, NotFoundError, NotGGUFError, TruncatedGGUFError
from eris.models.gguf import parse_header, read_header

HUGE = 2**62


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


ARCHITECTURE = entry("general.architecture", 8, text("llama"))
CONTEXT = entry("llama.context_length", 4, struct.pack("<I", 2048))
TEMPLATE = entry("tokenizer.chat_template", 8, text("{{ messages }}"))
TOKENS = entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b"))
SCORES = entry("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 2) + struct.pack("<2f", 1, 2))


def tensor(shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    dimensions = struct.pack(f"<{len(shape)}Q", *shape)
    return text("t") + struct.pack("<I", len(shape)) + dimensions + struct.pack("<IQ", kind, offset)


def gguf(entries=(), tensors=(), *, data: int = 0, alignment: int = 32, version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    head += b"".join((*entries, *tensors))
    return head + bytes(-len(head) % alignment + data)


WHOLE = gguf(
    (ARCHITECTURE, CONTEXT, TEMPLATE, TOKENS, SCORES),
    (tensor((256, 2), 12, 0), tensor((4,), 0, 288)),
    data=304,
)


def test_a_whole_file_tells_what_it_is():
    header = parse_header(WHOLE)
    assert header.architecture == "llama"
    assert header.context_length == 2048
    assert header.chat_template == "{{ messages }}"
    assert header.tensors == 2
    assert header.needed_bytes == len(WHOLE)


def test_a_file_without_metadata_is_whole_and_says_nothing():
    header = parse_header(gguf())
    assert (header.architecture, header.context_length, header.chat_template) == ("", None, None)


@given(st.integers(min_value=4, max_value=len(WHOLE) - 1))
def test_every_cut_is_called_truncated(length):
    with pytest.raises(TruncatedGGUFError) as caught:
        parse_header(WHOLE[:length])
    assert caught.value.details["actual"] == length
    assert length < caught.value.details["needed"] <= len(WHOLE)


def test_a_cut_in_the_weights_is_told_with_both_lengths():
    with pytest.raises(
        TruncatedGGUFError, match=f"needs {len(WHOLE)} bytes and has {len(WHOLE) - 1}"
    ):
        parse_header(WHOLE[:-1])


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", TruncatedGGUFError),
        (b"PK\x03\x04" + bytes(100), NotGGUFError),
        (gguf(version=1), NotGGUFError),
        (gguf(version=99), NotGGUFError),
        (gguf((entry("x", 77, b""),)), ModelError),
        (gguf((entry("x", 9, struct.pack("<IQ", 77, 1)),)), ModelError),
        (gguf((), (tensor(tuple([1] * 9), 0, 0),)), ModelError),
        (gguf((entry("general.alignment", 4, struct.pack("<I", 0)),)), ModelError),
        (gguf((entry("general.alignment", 8, text("wide")),)), ModelError),
    ],
    ids=[
        "empty",
        "a zip file",
        "version 1",
        "a future version",
        "unknown metadata type",
        "array of an unknown type",
        "nine dimensions",
        "alignment zero",
        "alignment in words",
    ],
)
def test_other_files_are_refused_in_words(data, error):
    with pytest.raises(error) as caught:
        parse_header(data, "model.gguf")
    assert "model.gguf" in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"GGUF" + struct.pack("<IQQ", 3, HUGE, 0) + bytes(64),
        b"GGUF" + struct.pack("<IQQ", 3, 0, HUGE) + bytes(64),
        gguf((entry("x", 9, struct.pack("<IQ", 6, HUGE)),)),
        gguf((entry("x", 9, struct.pack("<IQ", 8, HUGE)),)),
        gguf((entry("x", 8, struct.pack("<Q", HUGE)),)),
        gguf((), (tensor((HUGE, HUGE), 0, 0),)),
    ],
)
def test_absurd_counts_end_soon(data):
    with pytest.raises(ErisError):
        parse_header(data)


def test_arrays_nested_without_end_are_refused():
    nested = struct.pack("<IQ", 9, 1) * 1000
    with pytest.raises(ModelError):
        parse_header(gguf((entry("x", 9, nested),)))


@given(st.binary(max_size=200))
def test_garbage_after_the_magic_never_crashes(data):
    with contextlib.suppress(ModelError):
        parse_header(b"GGUF" + data)


@pytest.mark.parametrize(("data", "error"), [(b"", NotGGUFError), (b"# A note", NotGGUFError)])
def test_a_file_that_is_no_gguf_is_named(tmp_path, data, error):
    path = tmp_path / "note.md"
    path.write_bytes(data)
    with pytest.raises(error, match=r"note\.md"):
        read_header(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"gone\.gguf"):
        read_header(tmp_path / "gone.gguf")


def test_a_folder_is_no_model_file(tmp_path):
    with pytest.raises(NotFoundError):
        read_header(tmp_path)


def test_a_file_on_disk_reads_the_same(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE)
    assert read_header(path) == parse_header(WHOLE)
