"""What users say of labels: which are right, and what they were before."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier
from rehead._known import check_known, check_mask, check_trusted


@pytest.mark.parametrize("trusted", [["random", "maybe", ""], ["yes"] * 3])
def test_other_words_are_an_error(trusted):
    with pytest.raises(ValueError, match="'random' for rows that were drawn"):
        check_trusted(trusted, 3)


def test_missing_words_mean_nothing():
    found = check_trusted(np.array(["random", None, "chosen", float("nan")], dtype=object), 4)
    assert found.trusted.tolist() == [True, False, True, False]
    assert found.drawn.tolist() == [True, False, False, False]
    nothing = check_trusted(None, 3)
    assert nothing == (None, None, None)


def test_suggested_labels_are_not_trusted_but_may_have_changed():
    words, codes, before = ["random", "suggested", "", "chosen"], np.zeros(4, int), [1, 1, 0, 0]
    found = check_known(words, before, codes, np.arange(2))
    assert found.trusted.tolist() == [True, False, False, True]
    assert found.uncorrected.tolist() == before
    with pytest.raises(ValueError, match="The label of row 2 is 0 in y and 1 in uncorrected"):
        check_known(words, [1, 1, 1, 0], codes, np.arange(2))


ONES = (np.arange(60) < 30).astype(int)


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        (ONES, r"pass trusted\.astype\(bool\)"),
        (ONES.astype(float), r"pass trusted\.astype\(bool\)"),
        (ONES.tolist(), r"pass numpy\.array\(trusted, bool\)"),
        (np.where(ONES, 1.0, np.nan), r"pass numpy\.asarray\(trusted\) == 1"),
    ],
)
def test_a_column_of_ones_and_zeros_is_no_list_of_row_numbers(given, fix):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    for model, features in ((RobustGaussianClassifier(), X), (LayerEnsemble(), {"x": X})):
        with pytest.raises(ValueError, match=fix) as error:
            model.fit(features, y, trusted=given)
        assert "row numbers" not in str(error.value)


@pytest.mark.parametrize("rows", [[0, 1], [3, 5, 7], np.arange(60)])
def test_row_numbers_are_told_apart(rows):
    with pytest.raises(ValueError, match="From row numbers"):
        check_mask(rows, 60, "trusted")
