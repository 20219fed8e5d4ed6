"""Which columns of a table are features, and what cannot become one by mistake."""

import re
from decimal import Decimal

import numpy as np
import pytest

from rehead import ReheadWarning
from rehead.files.columns import Roles, choose_features
from rehead.files.tables import Table


def table(separator=",", **columns):
    n = len(next(iter(columns.values())))
    return Table("t.csv", columns, list(range(2, n + 2)), separator)


PLAIN = table(name=["x", "y"], a=["1", "2"], label=["0", "1"], b=["3", "4"])
ROLES = Roles(labels="label", ids="name")


def test_labels_ids_and_ignored_columns_are_no_features():
    chosen = choose_features(PLAIN, ROLES)
    assert chosen.features.names == ["a", "b"]
    assert chosen.features.values.tolist() == [[1, 3], [2, 4]]
    assert chosen.note == (
        "Features: 2 columns of t.csv: a, b. Left out: name (ids); label (labels)."
    )
    chosen = choose_features(PLAIN, ROLES._replace(ignored=("a",)))
    assert chosen.features.names == ["b"]
    assert chosen.left_out == ["a", "name", "label"]
    with pytest.raises(ValueError, match="no features besides a, b, name, label"):
        choose_features(PLAIN, ROLES._replace(ignored=("a", "b")))
    with pytest.raises(ValueError, match=r"has no column 'aa'. Did you mean 'a'"):
        choose_features(PLAIN, ROLES._replace(ignored=("aa",)))


def test_known_columns_are_taken_in_their_order():
    chosen = choose_features(PLAIN, Roles(), known=["b", "a"])
    assert chosen.features.values.tolist() == [[3, 1], [4, 2]]
    assert chosen.note.endswith("Left out: name, label (not known to the head).")
    with pytest.raises(ValueError, match=r"lacks columns .*'A', 'c'. Did you mean 'a'"):
        choose_features(PLAIN, Roles(), known=["b", "A", "c"])
    with pytest.raises(ValueError, match="fitted on the column 'a', which is ids here"):
        choose_features(PLAIN, Roles(ids="a"), known=["b", "a"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"Unnamed: 0": ["0", "1"]}, 'has no name: .* --ids "Unnamed: 0"'),
        ({"Unnamed: 3": ["0", "1"]}, "is called 'Unnamed: 3': probably a pandas index"),
        ({"__index_level_0__": ["0", "1"]}, "probably a pandas index"),
        ({"id": ["5", "3"]}, "column 'id' .* probably ids.* --ids id or --ignore id"),
        ({"photo_id": ["5", "3"]}, "column 'photo_id'"),
        ({"photoId": ["5", "3"]}, "column 'photoId'"),
        ({"city": ["x", "y"], "big town": ["x", "y"]}, '--ignore "city,big town"'),
        ({"w": ["1", "2", "", "4"]}, "Line 4 of t.csv: column 'w' is blank. .*--ignore w"),
        ({"w": ["1", "2", "NA", "4"]}, r"Line 4 of t.csv: column 'w' has no value \('NA'\)"),
        ({"w": ["1", "2", "nan", "4"]}, r"Line 4 of t.csv: column 'w' has no value \('nan'\)"),
        ({"w": ["1", "inf", "3"]}, "Line 3 of t.csv: column 'w' has 'inf', .* not a finite number"),
        ({"w": ["1", "2", "4x", "4"]}, "Line 4 of t.csv: column 'w' has '4x'"),
        ({"w": ["", "", ""]}, "Line 2 of t.csv: column 'w' is blank, as are all its cells"),
    ],
)
def test_what_would_be_a_feature_by_mistake_is_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        choose_features(table(**columns), Roles())


def test_whole_numbers_that_repeat_and_measurements_are_features():
    columns = table(shop_id=["1", "1"], humid=["1", "2"], idx=["0.5", "1.5"])
    assert choose_features(columns, Roles()).features.names == ["shop_id", "humid", "idx"]


def test_labels_that_are_in_another_file_leave_no_column_behind():
    with pytest.raises(ValueError, match=r"has a column 'label' too, .*--ignore label"):
        choose_features(table(a=["1", "2"], label=["0", "1"]), Roles(elsewhere="label"))
    with pytest.warns(ReheadWarning, match="column 'target' of t.csv is used as a feature"):
        choose_features(table(a=["1", "2"], target=["0", "1"]), Roles())


def test_a_column_that_only_counts_the_rows_is_warned_of():
    with pytest.warns(ReheadWarning, match="column 'number' of t.csv only counts .* --ids number"):
        choose_features(table(a=["1", "5", "2"], number=["1", "2", "3"]), Roles())


def test_decimal_commas_are_said_and_not_mixed_with_points():
    chosen = choose_features(table(";", a=["1,5", "2"], b=["3", "4"]), Roles())
    assert chosen.features.values.tolist() == [[1.5, 3], [2, 4]]
    assert chosen.note.endswith("Commas are read as decimal commas.")
    with pytest.raises(ValueError, match=re.escape("decimal commas (column 'a') and points (colu")):
        choose_features(table(";", a=["1,5", "2"], b=["3.5", "4"]), Roles())


def test_many_columns_are_shown_by_the_first_and_the_last():
    many = table(**{f"f{i}": ["1", "2"] for i in range(64)})
    assert choose_features(many, Roles()).note == (
        "Features: 64 columns of t.csv: f0, f1, f2 ... f63."
    )


def test_cells_that_parquet_holds_as_objects():
    text = Table("t.parquet", {"a": np.array(["1.5", "2.5"], object)})
    for known in (None, ["a"]):
        with pytest.raises(
            ValueError, match=r"'a' of t.parquet holds text that looks like numbers"
        ):
            choose_features(text, Roles(), known)
    gap = Table("t.parquet", {"a": np.array([Decimal("1.5"), None], object)})
    with pytest.raises(ValueError, match=r"Row 2 of t.parquet .*column 'a' is blank"):
        choose_features(gap, Roles())
