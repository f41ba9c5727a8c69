"""From the generating thread to the stream: pieces are joined while the receiver is slow."""

import threading

from actors.inference.delivery import Delivery
from actors.inference.generation import Statistics
from proto.inference import Chunk, Prefilled, TokenCounts


class SlowWriter:
    """Takes nothing until it's told to."""

    def __init__(self):
        self.items, self.go, self.ended = [], threading.Event(), threading.Event()

    def put(self, item):
        self.go.wait(5)
        self.items.append(item)

    def end(self, _result):
        self.ended.set()


def test_what_is_taken_back_while_the_receiver_waits_is_never_sent():
    writer = SlowWriter()
    delivery = Delivery(writer, TokenCounts(total=1, segments={}))
    delivery.prefilled(Statistics(prompt_tokens=1))
    while delivery._prefilled is not None:
        pass  # it waits in the writer now
    delivery.thought("hm", 1)
    delivery.text("abc", 1)
    delivery.text("def", 2)
    delivery.text("X", 3, removed=4)
    delivery.text("Y", 4, removed=5)
    writer.go.set()
    delivery.end(Chunk(text="", tokens=0))
    assert writer.ended.wait(5)
    assert isinstance(writer.items[0], Prefilled)
    assert writer.items[1:] == [
        Chunk(text="hm", tokens=1, thinking=True),
        Chunk(text="Y", tokens=4, removed=2),
    ]
