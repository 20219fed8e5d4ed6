"""Heat maps and graphs of confusions."""

import numpy as np

from rehead.report import drawing


def transition(C, seed=0):
    T = np.random.default_rng(seed).dirichlet(np.full(C, 0.3), size=C)
    return 0.3 * T + 0.7 * np.eye(C)


def test_every_cell_of_a_heat_map_is_that_of_the_matrix():
    T = transition(5)
    found = drawing.heat_map(T, np.full(5, 0.2), list("abcde"))
    assert len(found.cells) == 25
    assert all(cell.share == T[cell.row, cell.column] for cell in found.cells)
    assert all(cell.strength == 0 for cell in found.cells if cell.row == cell.column)
    assert max(cell.strength for cell in found.cells) == 1
    assert found.left_out == 0


def test_of_many_classes_those_that_are_confused_most():
    T = np.eye(100)
    T[40, 41], T[40, 40] = 0.5, 0.5
    T[7, 90], T[7, 7] = 0.1, 0.9
    names = [f"c{i}" for i in range(100)]
    found = drawing.heat_map(T, np.full(100, 0.01), names)
    assert found.left_out == 70
    assert {"c40", "c41", "c7", "c90"} <= set(found.names)
    graph = drawing.confusion_graph(T, np.full(100, 0.01), names)
    assert len(graph.nodes) == drawing.MOST_NODES
    assert len(graph.arrows) == 2
    assert all(arrow.bold for arrow in graph.arrows)
    assert sorted(a.width for a in graph.arrows) == [drawing.WIDEST * 0.1, drawing.WIDEST * 0.5]


def test_rare_errors_stay_pale():
    T = 0.998 * np.eye(3) + 0.002 / 3
    found = drawing.heat_map(T, np.full(3, 1 / 3), list("abc"))
    assert max(cell.strength for cell in found.cells) < 0.2


def test_two_classes_have_an_arrow_each_way():
    T = np.array([[0.8, 0.2], [0.3, 0.7]])
    graph = drawing.confusion_graph(T, np.array([0.5, 0.5]), ["a", "b"])
    assert [node.mistake for node in graph.nodes] == ["→ b (20 %)", "→ a (30 %)"]
    assert len(graph.arrows) == 2
    assert "nan" not in str(graph)


def test_long_and_steering_names_are_cut_and_written_out():
    assert drawing.short("x" * 99) == "x" * 25 + "…"
    assert drawing.short("a\u202eb") == "a\\u202eb"
