"""An ensemble from a file: parts that are right alone must go together too."""

import numpy as np
import pytest

from rehead import LayerEnsemble
from rehead.files.schema import FieldError


@pytest.fixture(scope="module")
def ensemble():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    layers = {"a": rng.normal(size=(120, 2)) + 3 * y[:, None], "b": rng.normal(size=(120, 3))}
    layers["p"] = rng.normal(size=(120, 3)) + 2 * np.eye(3)[y]
    first, rest = ({n: X[rows] for n, X in layers.items()} for rows in (slice(80), slice(80, 120)))
    ensemble = LayerEnsemble(given=["p"], random_state=0)
    return ensemble.fit(first, y[:80], validation=(rest, y[80:]))


def test_what_is_written_can_be_read(ensemble):
    arrays, settings = ensemble.to_state()
    again = LayerEnsemble.from_state(arrays, settings)
    assert again.get_params() == ensemble.get_params()
    assert again.members_ == ensemble.members_
    assert again.inputs_.to_json() == ensemble.inputs_.to_json()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"inputs": ["a", "b"]}, "inputs are not the layers"),
        ({"inputs": ["a", "b", "p", "q"]}, "inputs are not the layers"),
        ({"given": ["a"]}, r"calibration\.p is nothing|name of a member"),
        ({"given_as": {"a": "logits"}}, "given_as has names that are not given"),
        ({"given_as": {"p": "guess"}}, "must be one of probabilities, logits"),
        ({"density_member": "p"}, "density_member is no member"),
        ({"features": {"a": {"width": 7, "names": None}}}, "'a' has not the width of its member"),
        ({"features": {"a": {"width": 2, "names": ["u"]}}}, "1 names for 2"),
        ({"judgement": {"gaps": {}, "judges": [], "rounds": 1}}, "judges must not be empty"),
        ({"params": {"estimator": "nonsense"}}, "params: estimator must be one of"),
        ({"params": {"strange": 1}}, "no setting of this model"),
        ({"params": {"weights": "heavy"}}, r"params\.weights must be one of"),
        ({"params": {"random_state": -1}}, "random_state is no seed"),
        ({"members": {}}, "members must not be empty"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(ensemble, changes, match):
    arrays, settings = ensemble.to_state()
    with pytest.raises(FieldError, match=match):
        LayerEnsemble.from_state(arrays, {**settings, **changes})


def test_members_of_other_classes_are_refused(ensemble):
    arrays, settings = ensemble.to_state()
    settings["members"]["b"]["classes"] = {"dtype": "<i8", "values": [0, 1, 7]}
    with pytest.raises(FieldError, match="member 'b' has other classes than the first"):
        LayerEnsemble.from_state(arrays, settings)


@pytest.mark.parametrize("name", ["9.means", "unheard.of", "weights2"])
def test_arrays_that_are_not_known_are_refused(ensemble, name):
    arrays, settings = ensemble.to_state()
    with pytest.raises(FieldError, match="is nothing that"):
        LayerEnsemble.from_state({**arrays, name: np.ones(2)}, settings)
