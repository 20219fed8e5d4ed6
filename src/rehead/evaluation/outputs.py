"""Which output of a network is which class, and whether the labels bear that out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from rehead import _validation as check
from rehead._typing import Array
from rehead._warnings import warn
from rehead.gaussian.probability import softmax

SURE = 3.0
"""Standard errors that are not taken for chance."""
MOST_CLASSES = 1000
"""The order of the outputs is checked on the classes with the most samples, at most this many."""


class ClassOutputs(NamedTuple):
    """How a network's outputs are read.

    Attributes
    ----------
    columns : array of shape (n_classes,)
        The output of each class, in the order of the classes.
    n_outputs : int
        How many outputs the network has.
    probabilities : bool
        Whether the outputs are probabilities already, and not logits.
    """

    columns: Array
    n_outputs: int
    probabilities: bool = False

    def posterior(self, outputs: Array) -> Array:
        """The network's own posterior of the classes, from its outputs.

        Examples
        --------
        >>> import numpy as np
        >>> ClassOutputs(np.array([1, 0]), 2).posterior(np.array([[5.0, 5.0]]))
        array([[0.5, 0.5]])
        """
        if outputs.shape[1] != self.n_outputs:
            raise ValueError(
                f"The network gives {outputs.shape[1]} outputs, and gave {self.n_outputs} when the "
                "head was fitted. Use the same network."
            )
        of_classes = outputs[:, self.columns].astype(np.float64)
        if not self.probabilities:
            return softmax(of_classes, overwrite=True)
        # Outputs that are no class of the labels may have had it all.
        of_classes += np.finfo(np.float64).tiny
        posterior: Array = of_classes / of_classes.sum(axis=1, keepdims=True)
        return posterior

    @classmethod
    def of_earlier(cls, n_outputs: int, classes: Array) -> Self:
        """As files tell that were written before they said it: by number, or in sorted order."""
        columns = columns_of_classes(n_outputs, classes)
        if columns is None:
            raise ValueError(
                f"The network has {n_outputs} outputs, and the head {len(classes)} classes: it is "
                "not clear which output is which class. Fit the head again, with class_names=."
            )
        return cls(columns, n_outputs)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {**self._asdict(), "columns": self.columns.tolist()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """From :meth:`to_json`."""
        return cls(**{**saved, "columns": np.array(saved["columns"], np.int64)})


class Match(NamedTuple):
    """How outputs are read, or None and a sentence that tells why they cannot be."""

    outputs: ClassOutputs | None
    problem: str = ""


def match_outputs(
    outputs: Array, labels: Array, classes: Array, class_names: Sequence[Any] | None = None
) -> Match:
    """Find out which output is which class, and hold it against (noisy) labels.

    Labels that are the numbers of all outputs are taken at their word, and so are ``class_names``.
    Anything else is a guess, which has to agree with the labels far better than chance does. In no
    case may the outputs agree worse than chance, or far better in another order.

    Parameters
    ----------
    outputs : array of shape (n_samples, n_outputs)
    labels : array of shape (n_samples,)
        Some may be wrong.
    classes : array of shape (n_classes,)
        Sorted.
    class_names : sequence, optional
        The label of each output, in the order of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.array(["cat", "ant", "bee"] * 30)
    >>> outputs = np.tile(np.eye(3), (30, 1))                # cat, ant, bee
    >>> match_outputs(outputs, labels, np.unique(labels)).outputs is None
    True
    >>> names = ["cat", "ant", "bee"]
    >>> match_outputs(outputs, labels, np.unique(labels), names).outputs.columns
    array([1, 2, 0])
    """
    columns = columns_of_classes(outputs.shape[1], classes, class_names)
    if columns is None:
        problem = (
            f"The network has {outputs.shape[1]} outputs, and there are {len(classes)} classes"
        )
        return Match(None, f"{problem} ({check.first_few(classes.tolist())}).")
    certain = class_names is not None or np.array_equal(classes, np.arange(outputs.shape[1]))
    codes = check.known_codes(labels, classes)
    problem = _problem(outputs.argmax(axis=1), columns, codes, certain)
    if problem:
        return Match(None, problem)
    return Match(ClassOutputs(columns, outputs.shape[1], _are_probabilities(outputs)))


def read_outputs_as(
    outputs: Array, labels: Array, classes: Array, class_names: Sequence[Any] | None = None
) -> ClassOutputs | None:
    """How outputs are read; where that is not clear, None and a warning that says what to do."""
    found = match_outputs(outputs, labels, classes, class_names)
    if found.outputs is None:
        warn(
            f"{found.problem} The network's softmax is left out. To keep it, pass class_names=: "
            "the label of each output, in order."
        )
    return found.outputs


def columns_of_classes(
    n_outputs: int, classes: Array, class_names: Sequence[Any] | None = None
) -> Array | None:
    """Which output of a network is which class, or None if that is not clear.

    By name, or by number; other labels are taken for the outputs in sorted order where there are
    as many.
    """
    if class_names is not None:
        return _columns_of_names(n_outputs, classes, class_names)
    if classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < n_outputs:
        return classes.astype(np.int64)
    return np.arange(n_outputs) if len(classes) == n_outputs else None


def check_class_names(class_names: Any) -> list[Any] | None:
    """Names of outputs as a list without repetition."""
    if class_names is None:
        return None
    if isinstance(class_names, (str, Mapping)) or not hasattr(class_names, "__iter__"):
        raise ValueError(
            f"class_names must be a list, the label of each output in order; got {class_names!r}."
        )
    names = [name.item() if isinstance(name, np.generic) else name for name in class_names]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"class_names has {check.first_few(twice)} more than once.")
    return names


def _columns_of_names(n_outputs: int, classes: Array, class_names: Sequence[Any]) -> Array:
    if len(class_names) != n_outputs:
        raise ValueError(
            f"class_names has {len(class_names)} names, and the network {n_outputs} outputs. Name "
            "every output, in order."
        )
    place = {name: i for i, name in enumerate(class_names)}
    missing = [label for label in classes.tolist() if label not in place]
    if missing:
        raise ValueError(
            f"class_names ({check.first_few(list(class_names))}) does not have the labels "
            f"{check.first_few(missing)}. Write the names as the labels are; where labels are the "
            "numbers of the outputs, leave class_names out."
        )
    return np.array([place[label] for label in classes.tolist()])


def _problem(predicted: Array, columns: Array, codes: Array, certain: bool) -> str:
    """What speaks against these columns; empty if nothing does."""
    hits = predicted == columns[codes]
    chance = _chance(predicted, columns, codes)
    error = np.sqrt(chance * (1.0 - chance) / len(codes))
    better = hits.mean() - chance  # by how much
    found = f"The network's outputs agree with {hits.mean():.1%} of the labels"
    if better < -SURE * error:
        return f"{found}, less than by chance ({chance:.1%}). They may be in another order."
    other = _better_order(predicted, columns, codes)
    if other is not None:
        return f"{found}, and in another order with about {other:.1%}."
    if not certain and better <= SURE * error:
        return (
            "It is not clear which output of the network is which class: in the order of the "
            f"sorted labels they agree with {hits.mean():.1%} of these, no better than chance. Or "
            "the inputs are not prepared as in training."
        )
    return ""


def _chance(predicted: Array, columns: Array, codes: Array) -> float:
    """How often outputs would agree with labels that have nothing to do with them."""
    of_output = np.bincount(predicted, minlength=int(columns.max()) + 1) / len(predicted)
    of_class = np.bincount(codes, minlength=len(columns)) / len(codes)
    return float(of_class @ of_output[columns])


def _better_order(predicted: Array, columns: Array, codes: Array) -> float | None:
    """The agreement of another order of the outputs, if it is far better.

    The order is found on one half of the samples and tried on the other, and the other way round:
    so it has no advantage from having been chosen.
    """
    counts = np.bincount(codes, minlength=len(columns))
    asked = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    rows = np.isin(codes, asked)
    predicted, place, columns = predicted[rows], np.searchsorted(asked, codes[rows]), columns[asked]
    half = np.random.default_rng(0).random(len(place)) < 0.5
    ours, others = predicted == columns[place], np.zeros(len(place), bool)
    for chosen_on in (half, ~half):
        order = _best_order(predicted[chosen_on], place[chosen_on], columns)
        others[~chosen_on] = predicted[~chosen_on] == order[place[~chosen_on]]
    gain, apart = float(others.sum()) - float(ours.sum()), (ours != others).sum()
    return float(others.mean()) if gain > SURE * np.sqrt(apart) else None


def _best_order(predicted: Array, codes: Array, columns: Array) -> Array:
    """The outputs that agree best with the classes; of equally good ones, those in question."""
    table = np.zeros((len(columns), int(max(predicted.max(initial=0), columns.max())) + 1))
    np.add.at(table, (codes, predicted), 1.0)
    table[np.arange(len(columns)), columns] += 0.5
    order: Array = linear_sum_assignment(table, maximize=True)[1]
    return order


def _are_probabilities(outputs: Array) -> bool:
    """Whether every row is a distribution: the network ends in a softmax of its own."""
    blocks = (outputs[a : a + 4096] for a in range(0, len(outputs), 4096))
    return all((b >= 0).all() and np.allclose(b.sum(axis=1), 1.0, atol=1e-3) for b in blocks)
