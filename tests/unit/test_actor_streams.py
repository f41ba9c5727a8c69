"""The two ends of a stream, joined by a line that loses what it's told to."""

import threading

import msgspec
import pytest

from eris.actor import StreamReader, StreamWriter
from eris.codec import encode, tag_of
from proto.control import Cancel, Credit, Done, Resume
from proto.envelope import PROTOCOL_VERSION, STREAM_WINDOW, Head, Kind


class Number(msgspec.Struct, frozen=True, tag_field="t", tag="number.1"):
    number: int


class Line:
    """Carries messages between a reader and a writer of one stream; both ends are `Outgoing`."""

    def __init__(self):
        self.cut = False
        self.cancelled = threading.Event()
        self.reader = StreamReader("writer", 1, self, Number, Done)
        head = Head(PROTOCOL_VERSION, Kind.REQUEST, "count.1", 1, 0, "reader", "writer", 1)
        self.writer = StreamWriter(head, self, self.cancelled)

    def send(self, dst, kind, body, *, tag="", corr=0, seq=0, **_rest):
        if self.cut:
            return
        if dst == "writer":
            match body:
                case Credit(upto=upto):
                    self.writer.acknowledge(upto)
                case Resume(start=start):
                    self.writer.resume(start)
                case Cancel():
                    self.cancelled.set()
            return
        data = body if isinstance(body, bytes) else encode(body)
        name = tag or tag_of(body)
        head = Head(PROTOCOL_VERSION, kind, name, 2, corr, "writer", dst, 1, seq=seq)
        self.reader.arrive(head, data)

    def forget_stream(self, peer, request_id):
        pass


def put(line, count):
    for number in range(count):
        line.writer.put(Number(number))


def take(line, count):
    return [line.reader.next(0).number for _ in range(count)]


def test_items_lost_on_the_way_are_sent_again():
    line = Line()
    put(line, 3)
    line.cut = True
    put(line, 5)
    line.cut = False
    line.reader.resume()
    line.writer.end(Done())
    assert take(line, 8) == [0, 1, 2, 0, 1, 2, 3, 4]
    assert line.reader.next(0) is None
    assert line.reader.result == Done()


def test_credit_lost_on_the_way_is_given_again():
    line = Line()
    put(line, STREAM_WINDOW)
    line.cut = True
    take(line, STREAM_WINDOW)
    line.cut = False
    assert line.writer._next - line.writer._acknowledged == STREAM_WINDOW
    line.reader.resume()
    assert line.writer._next == line.writer._acknowledged
    put(line, STREAM_WINDOW)


def test_a_cancel_lost_on_the_way_is_said_again():
    line = Line()
    line.cut = True
    line.reader.cancel("enough")
    line.cut = False
    assert not line.cancelled.is_set()
    line.reader.resume()
    assert line.cancelled.is_set()


@pytest.mark.parametrize("repeated", [1, 3])
def test_an_item_that_comes_twice_is_taken_once(repeated):
    line = Line()
    put(line, 2)
    for _ in range(repeated):
        line.writer.resume(0)
    line.writer.end(Done())
    assert take(line, 2) == [0, 1]
    assert line.reader.next(0) is None
