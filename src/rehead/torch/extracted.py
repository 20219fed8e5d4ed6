"""Features that were extracted, in memory or in a store on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rehead import _validation as check
from rehead._typing import Array
from rehead.files.store import FeatureStore


@dataclass(frozen=True, eq=False)
class Features:
    """Features of each layer with the labels and ids of the samples, and the network's output.

    Attributes
    ----------
    layers : mapping of layer name to float32 array of shape (n_samples, width)
    labels : array of shape (n_samples,) or None
    ids : array of shape (n_samples,)
    outputs : float32 array of shape (n_samples, n_outputs)
        What the network itself returns, its logits; without columns where it returns no vectors.
    numbered : bool
        Whether the loader gave no ids, so that they are numbers in the order the samples came.
    """

    layers: Mapping[str, Array]
    labels: Array | None
    ids: Array
    outputs: Array
    numbered: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_outputs(self) -> int:
        """How many outputs the network has."""
        return int(self.outputs.shape[1])

    def labels_for(self, what: str) -> Array:
        """The labels, where these samples cannot do without."""
        if self.labels is None:
            raise ValueError(
                f"The {what} loader gives no labels. Its batches must be (x, y), (x, y, id) or "
                "dicts with 'labels'; keys={'labels': ...} names another entry."
            )
        return check.check_labels(self.labels, len(self))


class StoredFeatures(Features):
    """Features in a store; read from disk when they are asked for, and not kept in memory."""

    def __init__(self, store: FeatureStore) -> None:
        object.__setattr__(self, "store", store)

    store: FeatureStore

    @property
    def layers(self) -> Mapping[str, Array]:
        return _LayersOf(self.store)

    @property
    def labels(self) -> Array | None:
        return self.store.labels

    @property
    def ids(self) -> Array:
        return self.store.ids

    @property
    def outputs(self) -> Array:
        return self.store.outputs

    @property
    def n_outputs(self) -> int:
        return self.store.n_outputs

    @property
    def numbered(self) -> bool:
        return self.store.numbered

    def __len__(self) -> int:
        return len(self.store)


class _LayersOf(Mapping[str, Array]):
    def __init__(self, store: FeatureStore) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Array:
        return self._store.layer(name)

    def __contains__(self, name: object) -> bool:
        return name in self._store.layers

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.layers)

    def __len__(self) -> int:
        return len(self._store.layers)


def open_features(store: str | os.PathLike[str]) -> StoredFeatures:
    """Features that were written to a store."""
    return StoredFeatures(FeatureStore(store))
