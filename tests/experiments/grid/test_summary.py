"""Results read back: figures by task and noise, over seeds."""

import numpy as np
import pytest

from rehead.experiments.grid.summary import Grid
from rehead.experiments.results import Result, Results


@pytest.fixture
def group(cell_of, result_of):
    """Three seeds; kNN is better than the default, and the oracle better than both."""
    found = [
        result_of(
            cell_of("twitter-fcn", "uniform", 0.4, seed),
            {"auto": 0.8, "kNN-50": 0.8 + 0.01 * seed, "oracle": 0.9},
            auto={"noise_rate": 0.3 + 0.1 * seed, "auroc": 0.9},
            cleanlab=(0.5, 0.6 + 0.1 * seed),
            noise_rate=0.41,
        )
        for seed in range(3)
    ]
    (group,) = Grid.of_results(found).groups
    return group


def test_figures_by_seed(group):
    np.testing.assert_allclose(group.accuracy("kNN-50"), [80, 81, 82])
    np.testing.assert_allclose(group.auto("noise_rate"), [0.3, 0.4, 0.5])
    np.testing.assert_allclose(group.auto("auroc"), 0.9)
    np.testing.assert_allclose(group.measured("auto", "auroc"), 0.9)
    assert np.isnan(group.measured("kNN-50", "auroc")).all()
    np.testing.assert_allclose(group.cleanlab, [0.6, 0.7, 0.8])
    np.testing.assert_allclose(group.noise_rate, 0.41)
    assert group.seeds == [0, 1, 2]


def test_the_best_rival(group):
    assert group.best == "kNN-50"
    assert not {"auto", "oracle"} & set(group.rivals)
    np.testing.assert_allclose(group.behind, [0, 1, 2])


def test_names(group):
    assert group.name == "twitter-fcn uniform 40%"
    assert group.noise == "uniform 40%"
    assert group.is_noisy
    assert group.cell.seed == 0


def test_what_was_not_measured_is_not_a_number(cell_of, result_of):
    cell = cell_of(noise="semantic")
    result = result_of(cell, {"auto": np.nan, "RoG": np.nan})
    (group,) = Grid.of_results([result]).groups
    assert np.isnan(group.auto("auroc")).all()
    assert np.isnan(group.accuracy("RoG")).all()
    assert np.isnan(group.cleanlab).all()
    assert "RoG" not in group.columns
    assert group.noise == "semantic"
    assert not group.is_noisy


def test_columns_are_those_of_all_seeds_and_others_come_last(cell_of, result_of):
    found = [
        result_of(cell_of(seed=s), {"new": 0.9, "RoG": np.nan if s else 0.5}) for s in range(2)
    ]
    (group,) = Grid.of_results(found).groups
    assert "RoG" not in group.columns
    assert group.columns[-1] == group.best == "new"
    assert group.columns[0] == "softmax"


def test_of_equal_rivals_the_first_is_named(cell_of, result_of):
    (group,) = Grid.of_results([result_of(cell_of())]).groups
    assert group.best == "softmax"


def test_the_default_alone_is_not_counted(cell_of, result_of):
    """It would be behind nobody, and hide what other seeds say."""
    both = result_of(cell_of())
    alone = Result(cell_of(seed=1), network=both.network).with_more([both.columns["auto"]])
    (group,) = Grid.of_results([both, alone]).groups
    assert group.seeds == [0]
    assert Grid.of_results([alone]).groups == []


def test_a_folder_of_results(tmp_path, cell_of, result_of):
    results = Results(tmp_path)
    for seed in (1, 0):
        results.write(result_of(cell_of("reuters8-fcn", "flip", 0.2, seed)))
        results.write(result_of(cell_of("digits-mlp", "none", seed=seed)))
    results.write(Result(cell_of("digits-mlp", "semantic"), "not run", "no time"))
    grid = Grid.read(results)
    assert [g.name for g in grid.groups] == ["digits-mlp none", "reuters8-fcn flip 20%"]
    assert [g.seeds for g in grid.groups] == [[0, 1], [0, 1]]
    assert [task.name for task in grid.tasks] == ["digits-mlp", "reuters8-fcn"]
    assert [g.name for g in Grid.read(results, ["reuters8-fcn"], [1]).groups] == [
        "reuters8-fcn flip 20%"
    ]


def test_versions_are_counted(cell_of, result_of):
    found = [result_of(cell_of(seed=s), rehead=v) for s, v in enumerate(("0.1.0", "0.2.0"))]
    again = found[0].with_more([found[1].columns["auto"]])  # a later measurement counts
    assert Grid.of_results(found).versions == {"0.1.0": 1, "0.2.0": 1}
    assert Grid.of_results([again, found[1]]).versions == {"0.2.0": 2}
