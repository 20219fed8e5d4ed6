"""Checks of single values: what is wrong is named, and what to do about it."""

import numpy as np
import pytest

from rehead._values import check_choice, check_transition, first_few, generator_from, is_real

CLASSES = np.array(["ant", "bee", "cat"])


class TestTransition:
    GOOD = np.array([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]])

    def test_lists_and_single_precision_come_back_as_exact_probabilities(self):
        for given in (self.GOOD.tolist(), self.GOOD.astype(np.float32), self.GOOD.round(6)):
            found = check_transition(given, CLASSES)
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, self.GOOD, atol=1e-6)
            np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-15)

    def test_what_is_given_is_not_changed(self):
        given = self.GOOD * (1 + 1e-6)
        before = given.copy()
        assert check_transition(given, CLASSES) is not given
        np.testing.assert_array_equal(given, before)

    @pytest.mark.parametrize("shape", [(3, 2), (2, 2), (4, 4), (9,), (1, 3, 3), ()])
    def test_another_shape(self, shape):
        with pytest.raises(ValueError, match=r"must be 3 x 3, .*'ant', 'bee', 'cat'.*got shape"):
            check_transition(np.full(shape, 1 / 3), CLASSES)

    @pytest.mark.parametrize("row", [[1.1, -0.1, 0], [np.nan, 1, 0], [np.inf, 0, 0]], ids=str)
    def test_entries_that_are_no_probabilities_name_the_class(self, row):
        with pytest.raises(ValueError, match=r"must not be negative, NaN.*row 1 \(class 'bee'\)"):
            check_transition([[1, 0, 0], row, [0, 0, 1]], CLASSES)

    def test_rows_that_do_not_sum_to_one(self):
        bad = self.GOOD.copy()
        bad[2, 2] += 0.1
        with pytest.raises(ValueError, match=r"row 2 \(class 'cat'\) sums to 1.1. Divide each row"):
            check_transition(bad, CLASSES)
        with pytest.raises(ValueError, match=r"row 0 \(class 'ant'\) sums to 0\."):
            check_transition(np.zeros((3, 3)), CLASSES)

    @pytest.mark.parametrize(
        "T",
        [
            np.full((3, 3), "0.5"),
            np.eye(3) * (1 + 0j),
            np.ma.array(np.eye(3), mask=np.eye(3)),
            [[1, 0, 0], [0, 1], [0, 0, 1]],
            [[None] * 3] * 3,
            "identity",
            None,
        ],
        ids=repr,
    )
    def test_what_is_no_matrix_of_numbers(self, T):
        with pytest.raises(
            ValueError, match=r"transition matrix must be|must not be negative, NaN"
        ):
            check_transition(T, CLASSES)

    def test_a_transposed_matrix_is_recognised(self):
        with pytest.raises(ValueError, match=r"sums to 1.2. Its columns do: pass T.T"):
            check_transition(self.GOOD.T, CLASSES)
        np.testing.assert_allclose(check_transition(self.GOOD.T.T, CLASSES), self.GOOD)


def test_the_first_few_names():
    assert first_few([]) == ""
    assert first_few(["a", 2]) == "'a', 2"
    assert first_few([*"abcde"]) == "'a', 'b', 'c', 'd', 'e'"
    assert first_few([*"abcdefg"]) == "'a', 'b', 'c', 'd', 'e' and 2 more"


def test_a_choice_that_is_none_suggests_the_nearest():
    check_choice("mean", ("mean", "first"), "pool")
    with pytest.raises(
        ValueError, match=r"pool must be one of \['mean', 'first'\], got 'men'. Did"
    ):
        check_choice("men", ("mean", "first"), "pool")
    for value in (3, None, "unlike all"):
        with pytest.raises(ValueError, match=r"got .*\.$"):  # no guess
            check_choice(value, ("mean", "first"), "pool")


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)], ids=str)
def test_numbers_are_real(value):
    assert is_real(value)


@pytest.mark.parametrize("value", [True, np.bool_(True), "1", None, 1j, [1.0]], ids=str)
def test_other_things_are_not(value):
    assert not is_real(value)


class TestGenerators:
    def test_a_generator_is_used_itself(self):
        rng = np.random.default_rng(0)
        assert generator_from(rng) is rng

    @pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3)])
    def test_the_same_state_gives_the_same_numbers(self, make):
        one, two = (generator_from(make()).random(5) for _ in range(2))
        np.testing.assert_array_equal(one, two)

    def test_a_random_state_moves_on(self):
        state = np.random.RandomState(3)
        one, two = (generator_from(state).random(5) for _ in range(2))
        assert (one != two).any()

    def test_numpy_s_own_state_can_be_seeded(self):
        before = np.random.get_state()
        try:
            draws = []
            for _ in range(2):
                np.random.seed(1)
                draws.append(generator_from(np.random).random(5))
        finally:
            np.random.set_state(before)
        np.testing.assert_array_equal(*draws)
        assert (generator_from(None).random(5) != draws[0]).any()

    @pytest.mark.parametrize("value", ["seed", 1.0, -1, [1], True], ids=str)
    def test_what_is_no_seed(self, value):
        with pytest.raises(ValueError, match="random_state must be None, a whole number"):
            generator_from(value)


def test_short_names_are_not_guessed():
    with pytest.raises(ValueError, match=r"form must be one of .*, got 'IV'") as error:
        check_choice("IV", ["I", "II", "III"], "form")
    assert "'II'?" not in str(error.value)
    assert "'I'?" not in str(error.value)
    with pytest.raises(ValueError, match="Did you mean 'mcd'"):
        check_choice("mdc", ["mcd", "sample"], "estimator")
