"""Uniform and flip noise (section 4.1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Noisy labels and what was done to them.

    Attributes
    ----------
    labels : array of shape (n_samples,)
    changed : boolean array of shape (n_samples,)
    rate : float
        The realised share of changed labels.
    transition : array of shape (n_classes, n_classes)
        Realised probability of each noisy label (column) for each true one (row).
    classes : array of shape (n_classes,)
    """

    labels: Array
    changed: Array
    rate: float
    transition: Array
    classes: Array


def uniform(y: Any, rate: float, *, random_state: Any = None) -> NoisyLabels:
    """Give ``floor(rate * N_c)`` samples of each class a label drawn from all *other* classes.

    Examples
    --------
    >>> from rehead import noise
    >>> noisy = noise.uniform([0, 0, 0, 0, 1, 1, 1, 1], rate=0.5, random_state=0)
    >>> noisy.rate
    0.5
    >>> int(noisy.changed[:4].sum())
    2
    """

    def others(c: int, n: int, n_classes: int, rng: np.random.Generator) -> Array:
        return (c + rng.integers(1, n_classes, size=n)) % n_classes

    return _corrupt(y, rate, random_state, others)


def flip(y: Any, rate: float, *, random_state: Any = None) -> NoisyLabels:
    """Give ``floor(rate * N_c)`` samples of each class the label of the next class.

    The last class becomes the first. Classes are in sorted order.

    Examples
    --------
    >>> from rehead import noise
    >>> noise.flip(["a", "b", "c"], rate=1.0).labels.tolist()
    ['b', 'c', 'a']
    """

    def following(c: int, n: int, n_classes: int, rng: np.random.Generator) -> Array:
        return np.full(n, (c + 1) % n_classes)

    return _corrupt(y, rate, random_state, following)


def _corrupt(
    y: Any,
    rate: float,
    random_state: Any,
    new_codes: Callable[[int, int, int, np.random.Generator], Array],
) -> NoisyLabels:
    """Change an exact share of each class."""
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"rate must be in [0, 1], got {rate!r}. For 40 % pass 0.4.")
    y = check.check_labels(y, len(y))
    classes, codes = check.encode_labels(y)
    C = len(classes)
    rng = check.generator_from(random_state)
    noisy = codes.copy()
    for c in range(C):
        rows = np.flatnonzero(codes == c)
        # The small number keeps 0.3 * 10 from becoming 2.
        n = int(rate * len(rows) + 1e-9)
        chosen = rng.choice(rows, size=n, replace=False)
        noisy[chosen] = new_codes(c, n, C, rng)
    changed = noisy != codes
    joint = np.zeros((C, C))
    np.add.at(joint, (codes, noisy), 1.0)
    return NoisyLabels(
        labels=classes[noisy],
        changed=changed,
        rate=float(changed.mean()),
        transition=joint / joint.sum(axis=1, keepdims=True),
        classes=classes,
    )
