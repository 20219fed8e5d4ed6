import pytest

from rehead.experiments.theory import tables
from rehead.experiments.theory.markdown import figure, number


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (tables.worlds_table, 3),
        (tables.factor_table, 4),
        (tables.means_table, 3),
        (tables.covariance_table, 3),
        (tables.ratio_table, 3),
        (tables.bound_table, 3 * 4),
        (tables.error_table, 3),
        (tables.breakdown_table, 3),
        (tables.counterexample_table, 15),
    ],
)
def test_tables_have_a_row_for_each_thing(tiny, make, rows):
    lines = make(tiny)
    assert len(lines) == rows + 2
    assert len({len(cells(line)) for line in lines}) == 1


def test_the_ratio_table_has_measured_and_claimed_side_by_side(tiny):
    row = cells(tables.ratio_table(tiny)[2])
    claims, pooled = tiny["cells"][0]["claims"]["mcd"], tiny["cells"][0]["pooled"]["mcd"]
    assert row == [
        "1",
        figure(pooled["ratio"]),
        number(claims["ratio"]["printed"]),
        number(claims["ratio"]["repaired"]),
        number(claims["ratio"]["exact"]),
        figure(pooled["ratio_squared"]),
        number(claims["ratio_squared"]["printed"]),
        number(claims["ratio_squared"]["exact"]),
    ]


def test_the_bound_table_has_the_fewest_samples_and_the_limit(tiny):
    row = cells(tables.bound_table(tiny)[2])
    measured = tiny["cells"][0]["runs"][0]["bounds"][4]
    limit = tiny["cells"][0]["bound_limits"][4]
    assert measured["reading"] == limit["reading"] == "squared"
    assert row[1:4] == ["0", figure(measured["sample"]), figure(measured["mcd"])]
    assert row[5:] == [number(limit["sample"]), number(limit["mcd"])]


def test_the_breakdown_table_finds_its_rows(tiny):
    lines = tables.breakdown_table(tiny)
    column = cells(lines[0]).index("algorithm_1, one cluster")
    for line in lines[2:]:
        (row,) = (
            r
            for r in tiny["breakdown"]["rows"]
            if (r["attack"], r["estimator"]) == ("one cluster", "algorithm_1")
            and r["replaced"] == int(cells(line)[0])
        )
        expected = f"{figure(row['mean_broken'])}; {figure(row['covariance_broken'])}"
        assert cells(line)[column] == expected


def test_the_exact_table_has_all_counts(tiny):
    lines = tables.exact_table(tiny)
    counts = sorted({row["replaced"] for row in tiny["exact_breakdown"]["rows"]})
    assert [int(cells(line)[0]) for line in lines[2:]] == counts
