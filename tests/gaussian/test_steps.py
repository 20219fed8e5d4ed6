"""Steps are done once, wherever their results are remembered."""

import numpy as np

from rehead.gaussian.steps import Each, each_remembered, remembered, remembering


class InMemory:
    def __init__(self):
        self.kept, self.seconds = {}, {}

    def key(self, name, arguments):
        return f"{name} {arguments}"

    def has(self, key):
        return key in self.kept

    def recall(self, key):
        return self.kept[key]

    def keep(self, key, result, seconds):
        self.kept[key], self.seconds[key] = result, seconds


calls = []


@remembered(float)
def half(n):
    calls.append(n)
    return n / 2


@remembered(tuple)
def halves(*numbers):
    return tuple(half(n) for n in numbers)


def test_a_step_is_done_once():
    calls.clear()
    with remembering(InMemory()):
        assert [half(1), half(1), half(n=1), half(3)] == [0.5, 0.5, 0.5, 1.5]
    assert calls == [1, 1, 3]  # an argument by name is another one
    assert half(1) == 0.5
    assert calls == [1, 1, 3, 1]  # nobody remembers it here


def test_steps_inside_a_step_are_part_of_it():
    memory = InMemory()
    with remembering(memory):
        assert halves(1, 2) == halves(1, 2) == (0.5, 1.0)
    assert len(memory.kept) == 1


def test_what_is_remembered_of_many_is_left_out():
    memory, asked = InMemory(), []

    def squares(numbers):
        asked.append(list(numbers))
        return (n * n for n in numbers)

    each = Each("square", lambda n: n, int)
    with remembering(memory):
        assert list(each_remembered(each, squares, [1, 2, 3])) == [1, 4, 9]
        del memory.kept["square 2"]
        assert list(each_remembered(each, squares, [1, 2, 3, 4])) == [1, 4, 9, 16]
    assert asked == [[1, 2, 3], [2, 4]]
    assert list(each_remembered(each, squares, [1])) == [1]
    assert asked[-1] == [1]


def test_one_that_came_at_once_took_as_long_as_the_others(monkeypatch):
    now = iter([0.0, 8.0, 8.0, 8.0, 8.0, 10.0])
    monkeypatch.setattr("rehead.gaussian.steps.time.monotonic", lambda: next(now))
    memory = InMemory()
    with remembering(memory):
        list(each_remembered(Each("n", int, int), iter, [1, 2, 5]))
    np.testing.assert_allclose(list(memory.seconds.values()), [8.0, 4.0, 10 / 3])
