"""Peers as columns: methods of others, on the features of one layer.

"X, LDA" throws out what X flags (a class of which everything is flagged stays as it is), and lets
shrunk LDA of the rest predict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.experiments.peers.deep_knn import deep_knn
from rehead.experiments.peers.fine import fine
from rehead.experiments.peers.hoc import hoc
from rehead.experiments.peers.probe import GENERALISED, train_probe
from rehead.experiments.peers.relation_graph import relation_graph
from rehead.experiments.peers.simifeat import simifeat_rank, simifeat_vote
from rehead.experiments.peers.verdict import Verdict, flag_worst, spare_classes
from rehead.experiments.peers.wann import neighbours_needed, wann_predict
from rehead.experiments.task import Prediction, Task
from rehead.gaussian.probability import softmax

Column = Callable[[Task], Prediction]
Layer = Callable[[Task], str]
Method = Callable[[Task, str], Prediction]
"""A way to predict from the layer of this name."""
Judge = Callable[[Array, Array, int], Verdict]
"""A method that flags labels, from features, labels and the number of classes."""

FOLDS = 5
"""For posteriors of samples by estimates that did not see them."""


def last_layer(task: Task) -> str:
    """The penultimate layer."""
    return task.last


def first_layer(task: Task) -> str:
    """The layer next to the input, or the input itself."""
    return task.first


def peer_columns(layer: Layer = last_layer, suffix: str = "") -> dict[str, Column]:
    """All peers on one layer of the task, by name.

    Parameters
    ----------
    layer : callable
        From the task to the name of the layer.
    suffix : str
        What is added to the names.

    Examples
    --------
    >>> from rehead.experiments.columns.peers import first_layer, peer_columns
    >>> list(peer_columns(first_layer, ", first"))[2]
    'WANN, first'
    """
    return {name + suffix: _on_layer(method, layer) for name, method in METHODS.items()}


def lda() -> RobustGaussianClassifier:
    """Sample estimates, shrunk."""
    return RobustGaussianClassifier("sample", shrinkage="auto")


def out_of_fold(X: Array, y: Array, n_classes: int) -> Array:
    """LDA posteriors of each sample, from the folds that it is not in.

    Each class is spread evenly over the folds. A class that is in one fold only has no posterior
    there.
    """
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), int)
    fold[order] = np.arange(len(y)) % FOLDS
    posterior = np.zeros((len(y), n_classes))
    for held_out in (fold == f for f in range(FOLDS)):
        model = lda().fit(X[~held_out], y[~held_out])
        posterior[np.ix_(held_out, model.classes_)] = model.predict_proba(X[held_out])
    return posterior


def margin(X: Array, y: Array, n_classes: int) -> Verdict:
    """Flag the labels of the smallest margins, as many as HOC takes for wrong."""
    quality = train_probe(X, y, n_classes).margins
    rate = hoc(X, y, n_classes).rate
    return Verdict(flag_worst(quality, rate), quality, rate)


def _pruned(judge: Judge, task: Task, layer: str) -> Prediction:
    verdict = judge(task.train.layers[layer], task.train.y, task.n_classes)
    return _without_flagged(task, layer, verdict)


def _relation_graph(task: Task, layer: str) -> Prediction:
    """With the probabilities of the network, where there is one."""
    X, y = task.train.layers[layer], task.train.y
    if task.train.outputs is None:
        probabilities = out_of_fold(X, y, task.n_classes)
    else:
        probabilities = softmax(task.train.outputs)
    return _without_flagged(task, layer, relation_graph(X, y, probabilities))


def _without_flagged(task: Task, layer: str, verdict: Verdict) -> Prediction:
    X, y = task.train.layers[layer], task.train.y
    kept = ~spare_classes(verdict.flagged, y)
    labels = lda().fit(X[kept], y[kept]).predict(task.test.layers[layer])
    clean = float((~task.changed[kept]).mean())
    details = {"kept": {layer: int(kept.sum())}, "clean_kept": {layer: clean}}
    return Prediction(labels, verdict.quality, verdict.noise_rate, details)


def _wann(task: Task, layer: str) -> Prediction:
    X, y = task.train.layers[layer], task.train.y
    needed = neighbours_needed(X, y, task.n_classes)
    labels = wann_predict((X, y), needed, task.test.layers[layer], task.n_classes)
    return Prediction(labels, 1 / needed)


def _generalised(task: Task, layer: str) -> Prediction:
    probe = train_probe(task.train.layers[layer], task.train.y, task.n_classes, GENERALISED)
    return Prediction(probe.scores(task.test.layers[layer]).argmax(axis=1), probe.margins)


def _on_layer(method: Method, layer: Layer) -> Column:
    return lambda task: method(task, layer(task))


METHODS: Mapping[str, Method] = {
    "SimiFeat-V, LDA": partial(_pruned, simifeat_vote),
    "SimiFeat-R, LDA": partial(_pruned, simifeat_rank),
    "WANN": _wann,
    "FINE, LDA": partial(_pruned, fine),
    "deep k-NN, LDA": partial(_pruned, deep_knn),
    "relation graph, LDA": _relation_graph,
    "margin, LDA": partial(_pruned, margin),
    "GCE probe": _generalised,
}
PEERS: dict[str, Column] = peer_columns()
"""On the penultimate layer."""
