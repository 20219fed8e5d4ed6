"""Which output is which class: by number, by name, by order, and only if labels bear it out."""

import numpy as np
import pytest
from scipy.special import softmax

from rehead import ReheadWarning
from rehead.evaluation.outputs import (
    ClassOutputs,
    check_class_names,
    columns_of_classes,
    match_outputs,
    read_outputs_as,
)


def network(codes, order, accuracy=0.9, n_outputs=None, seed=0):
    """Outputs of a network that is right so often, class c in the column ``order[c]``."""
    rng = np.random.default_rng(seed)
    width = n_outputs or len(order)
    right = rng.random(len(codes)) < accuracy
    predicted = np.where(right, np.asarray(order)[codes], rng.integers(width, size=len(codes)))
    return 4.0 * np.eye(width)[predicted] + rng.normal(size=(len(codes), width))


def found(outputs, labels, names=None):
    match = match_outputs(outputs, labels, np.unique(labels), names)
    return match.problem if match.outputs is None else match.outputs.columns.tolist()


@pytest.mark.parametrize(
    ("n_outputs", "classes", "columns"),
    [
        (4, [0, 1, 2, 3], [0, 1, 2, 3]),
        (4, [1, 3], [1, 3]),  # numbers are columns, though some are never seen
        (3, [5, 6, 7], [0, 1, 2]),  # not numbers of columns, but as many
        (3, [-1, 0, 1], [0, 1, 2]),
        (2, ["a", "b"], [0, 1]),
        (3, ["a", "b"], None),
        (3, [2, 3], None),
        (0, [0, 1], None),
    ],
)
def test_columns_without_names(n_outputs, classes, columns):
    got = columns_of_classes(n_outputs, np.array(classes))
    assert (None if got is None else got.tolist()) == columns


@pytest.mark.parametrize(
    ("classes", "names", "columns"),
    [
        (["ant", "bee"], ["bee", "cat", "ant"], [2, 0]),
        ([3, 5], [5, 3], [1, 0]),
        ([False, True], [True, False], [1, 0]),
    ],
)
def test_columns_by_name(classes, names, columns):
    assert columns_of_classes(len(names), np.array(classes), names).tolist() == columns


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["ant"], "class_names has 1 names, and the network 2 outputs"),
        (["ant", "wasp"], "does not have the labels 'bee'"),
        (["ANT", "BEE"], "does not have the labels 'ant', 'bee'.*leave class_names out"),
    ],
)
def test_names_that_do_not_fit(names, match):
    with pytest.raises(ValueError, match=match):
        columns_of_classes(2, np.array(["ant", "bee"]), names)


def test_names_are_a_list_without_repetition():
    assert check_class_names(np.array([3, 4])) == [3, 4]
    assert check_class_names(None) is None
    with pytest.raises(ValueError, match="'a' more than once"):
        check_class_names(["a", "b", "a"])
    for odd in ("a,b", {"a": 0}, 3):
        with pytest.raises(ValueError, match="class_names must be a list"):
            check_class_names(odd)


class TestHeldAgainstLabels:
    codes = np.random.default_rng(1).integers(10, size=500)
    names = np.array([f"class {i}" for i in range(10)])

    def test_names_in_sorted_order_are_found(self):
        assert found(network(self.codes, range(10), 0.3), self.names[self.codes]) == list(range(10))

    def test_names_in_another_order_are_not_guessed(self):
        order = np.roll(np.arange(10), 3)
        outputs, labels = network(self.codes, order), self.names[self.codes]
        assert "less than by chance" in found(outputs, labels)
        assert found(outputs, labels, self.names[np.argsort(order)].tolist()) == order.tolist()

    def test_two_classes_that_are_swapped_are_noticed(self):
        order = [1, 0, *range(2, 10)]
        problem = found(network(self.codes, order), self.names[self.codes])
        assert "in another order with about" in problem

    def test_numbers_are_believed_unless_labels_speak_against_it(self):
        assert found(network(self.codes, range(10), 0.0), self.codes) == list(range(10))
        assert "agree with" in found(network(self.codes, np.roll(np.arange(10), 1)), self.codes)

    def test_a_guess_at_chance_is_no_guess(self):
        outputs = network(self.codes, range(10), 0.0)
        assert "no better than chance" in found(outputs, self.names[self.codes])

    def test_features_are_not_taken_for_classes(self):
        features = np.random.default_rng(2).normal(size=(500, 64))
        assert "not clear which output" in found(features, self.codes)

    def test_few_samples_of_many_classes_do_not_speak_for_another_order(self):
        codes = np.repeat(np.arange(300), 2)
        labels = np.array([f"{i:03}" for i in range(300)])[codes]
        assert found(network(codes, range(300), 0.3), labels) == list(range(300))

    def test_a_network_that_always_says_the_same(self):
        codes = np.repeat([0, 0, 0, 1, 2], 60)
        outputs = np.tile([5.0, 0.0, 0.0], (300, 1))
        assert found(outputs, codes) == [0, 1, 2]

    @pytest.mark.parametrize("rate", [0.2, 0.45])
    def test_flipped_labels_are_no_other_order(self, rate):
        rng = np.random.default_rng(3)
        noisy = np.where(rng.random(500) < rate, (self.codes + 1) % 10, self.codes)
        assert found(network(self.codes, range(10), 1.0), self.names[noisy]) == list(range(10))

    def test_the_reader_is_warned(self):
        outputs, labels = network(self.codes, range(10)), self.names[self.codes % 4]
        with pytest.warns(ReheadWarning, match=r"10 outputs, and there are 4 classes.*class_names"):
            assert read_outputs_as(outputs, labels, np.unique(labels)) is None


class TestPosterior:
    outputs = 3 * np.random.default_rng(1).normal(size=(300, 3))

    def test_the_softmax_is_over_the_classes_that_there_are(self):
        single = self.outputs.astype(np.float32)
        got = ClassOutputs(np.array([2, 0]), 3).posterior(single)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, softmax(single[:, [2, 0]].astype(float), 1), rtol=1e-12)

    def test_probabilities_are_not_squashed_again(self):
        labels = self.outputs.argmax(axis=1)
        p = softmax(self.outputs, axis=1).astype(np.float32)
        reading = match_outputs(p, labels, np.arange(3)).outputs
        assert reading.probabilities
        np.testing.assert_allclose(reading.posterior(p), p, atol=1e-6)
        of_logits = match_outputs(self.outputs, labels, np.arange(3)).outputs
        assert not of_logits.probabilities
        np.testing.assert_allclose(of_logits.posterior(self.outputs), p, atol=1e-6)

    def test_probability_zero_of_all_classes_that_there_are(self):
        got = ClassOutputs(np.array([0, 1]), 3, True).posterior(np.array([[0.0, 0.0, 1.0]]))
        np.testing.assert_allclose(got, [[0.5, 0.5]])

    def test_outputs_stay_as_they_are(self):
        before = self.outputs.copy()
        for probabilities in (False, True):
            ClassOutputs(np.arange(3), 3, probabilities).posterior(self.outputs)
        np.testing.assert_array_equal(self.outputs, before)

    def test_large_outputs_do_not_overflow(self):
        got = ClassOutputs(np.arange(2), 2).posterior(np.array([[1e4, 0.0], [-1e4, 0.0]]))
        np.testing.assert_allclose(got, [[1.0, 0.0], [0.0, 1.0]], atol=1e-300)

    def test_another_number_of_outputs_is_an_error(self):
        with pytest.raises(ValueError, match="gives 3 outputs, and gave 2"):
            ClassOutputs(np.arange(2), 2).posterior(self.outputs)

    def test_as_json_and_back(self):
        reading = ClassOutputs(np.array([1, 0]), 3, True)
        again = ClassOutputs.from_json(reading.to_json())
        assert again.columns.tolist() == [1, 0]
        assert again[1:] == reading[1:]

    def test_earlier_files_mean_numbers_or_sorted_order(self):
        assert ClassOutputs.of_earlier(4, np.array([1, 3])).columns.tolist() == [1, 3]
        with pytest.raises(ValueError, match=r"not clear which output.*class_names="):
            ClassOutputs.of_earlier(4, np.array(["a", "b"]))
