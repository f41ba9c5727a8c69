"""Every message of the contract survives the wire, and nothing that isn't one gets past it."""

import contextlib
import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.codec import ALL_MESSAGES, decode_body, decode_head, encode, tag_of
from eris.errors import ProtocolError
from proto.envelope import MAX_BODY_BYTES, MAX_HEAD_BYTES, PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorCode
from proto.rights import RIGHTS

PINNED = Path(__file__).parent / "pinned_schemas.json"
MESSAGES: tuple[type[msgspec.Struct], ...] = get_args(ALL_MESSAGES)

st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


def _strategy(structure: type[msgspec.Struct]) -> st.SearchStrategy[msgspec.Struct]:
    """Values for every field: a field's default hides what it can hold."""
    fields = msgspec.structs.fields(structure)
    return st.builds(structure, **{field.name: st.from_type(field.type) for field in fields})


for _structure in {*MESSAGES, *msgspec.Struct.__subclasses__()}:
    if _structure.__module__.startswith("proto.") and _structure.__struct_fields__:
        st.register_type_strategy(_structure, _strategy)

heads = st.builds(
    Head,
    v=st.just(PROTOCOL_VERSION),
    kind=st.sampled_from(Kind),
    type=st.text(max_size=20),
    src=st.text(max_size=20),
    dst=st.text(max_size=20),
    trace=st.text(max_size=20),
)


def schemas() -> dict[str, Any]:
    """Schema of every message by tag, references resolved in place of nothing."""
    result = {}
    for message in MESSAGES:
        schema = msgspec.json.schema(message)
        result[tag_of(message)] = json.loads(msgspec.json.encode(schema, order="sorted"))
    return result


@pytest.mark.parametrize("message", MESSAGES, ids=tag_of)
@given(data=st.data())
def test_a_message_is_the_same_after_the_wire(
    message: type[msgspec.Struct], data: st.DataObject
) -> None:
    body = data.draw(st.from_type(message))
    assert encode(decode_body(encode(body), ALL_MESSAGES, tag_of(message))) == encode(body)


@given(head=heads)
def test_a_head_is_the_same_after_the_wire(head: Head) -> None:
    assert decode_head(encode(head)) == head


@given(frame=st.binary(max_size=200))
def test_garbage_is_a_protocol_error_and_nothing_else(frame: bytes) -> None:
    for decode in (decode_head, lambda data: decode_body(data, ALL_MESSAGES)):
        with contextlib.suppress(ProtocolError):
            decode(frame)


@given(head=heads, cut=st.integers(0, 30))
def test_a_truncated_head_is_refused(head: Head, cut: int) -> None:
    frame = encode(head)
    if cut < len(frame):
        with pytest.raises(ProtocolError):
            decode_head(frame[:cut])


def test_an_unknown_field_is_tolerated_on_the_wire() -> None:
    frame = msgspec.msgpack.encode({"t": "router.route.1", "text": "hello", "from_the_future": 1})
    assert decode_body(frame, ALL_MESSAGES).text == "hello"


def test_a_longer_head_of_a_newer_build_is_read() -> None:
    head = Head(PROTOCOL_VERSION, 1, "t", 1, 0, "a", "b", 1)
    frame = msgspec.msgpack.encode([*msgspec.to_builtins(head), "added later"])
    assert decode_head(frame) == head


@pytest.mark.parametrize(
    ("decode", "frame", "code"),
    [
        (
            decode_head,
            msgspec.msgpack.encode(Head(99, 1, "t", 1, 0, "a", "b", 1)),
            ErrorCode.BAD_VERSION,
        ),
        (decode_head, b"\xc4" + b"x" * MAX_HEAD_BYTES, ErrorCode.TOO_LARGE),
        (lambda f: decode_body(f, ALL_MESSAGES), b"x" * (MAX_BODY_BYTES + 1), ErrorCode.TOO_LARGE),
        (
            lambda f: decode_body(f, ALL_MESSAGES),
            msgspec.msgpack.encode({"t": "no.such.1"}),
            ErrorCode.BAD_MESSAGE,
        ),
        (
            lambda f: decode_body(f, ALL_MESSAGES, "done.1"),
            msgspec.msgpack.encode({"t": "ping.1"}),
            ErrorCode.BAD_MESSAGE,
        ),
    ],
    ids=["version", "large head", "large body", "unknown tag", "tag not as announced"],
)
def test_what_breaks_the_protocol_is_told_apart(decode: Any, frame: bytes, code: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(frame)
    assert caught.value.code == code


def test_tags_are_unique_and_versioned() -> None:
    tags = [tag_of(message) for message in MESSAGES]
    assert len(set(tags)) == len(tags)
    assert all(tag.rpartition(".")[2].isdigit() for tag in tags)


def test_every_right_names_a_message_that_exists() -> None:
    tags = {tag_of(message) for message in MESSAGES}
    for sender, receivers in RIGHTS.items():
        if sender != "bench":
            for types in receivers.values():
                assert set(types) <= tags


def test_published_schemas_only_ever_grow() -> None:
    """A field that is removed or retyped needs a new tag; update the pin by `make docs`."""
    pinned = json.loads(PINNED.read_text("utf-8"))
    current = schemas()
    assert set(pinned) <= set(current), "a message was removed"
    for tag, schema in pinned.items():
        assert _fields(schema).items() <= _fields(current[tag]).items(), tag
    assert set(pinned) == set(current), "pin the new messages: make docs"


def _fields(schema: dict[str, Any]) -> dict[str, str]:
    """Type of every field, by the name of its structure."""
    return {
        f"{name}.{field}": json.dumps(
            {k: v for k, v in kind.items() if k not in {"description", "default"}}, sort_keys=True
        )
        for name, structure in schema["$defs"].items()
        for field, kind in structure.get("properties", {}).items()
    }


if __name__ == "__main__":
    PINNED.write_text(json.dumps(schemas(), indent=1, sort_keys=True) + "\n", "utf-8")
