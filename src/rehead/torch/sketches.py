"""Texts and wide vectors as a few numbers a sample, by a rule that no training has touched.

The word embeddings of a network that was trained from nothing have memorised its labels like any
other layer. The words themselves have not. Their counts are far too many features, so they are
added up in a small number of cells, with random signs (a *count sketch*; Charikar, Chen and
Farach-Colton, 2002). Inner products of samples, and so what tells classes apart, hardly change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

N_CELLS = 512
"""Numbers that a sample becomes."""
N_COPIES = 4
"""Cells that each word is added to: words that share one of them differ in the others."""
MOST_WORDS = 2**15
"""Larger word numbers are taken modulo this one."""


@lru_cache(maxsize=4)
def _cells_and_signs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each of n features is added, and with which sign; one row for each copy.

    Files of heads do not hold this table, so it must be the same tomorrow: the numbers of
    ``RandomState`` are promised never to change.
    """
    rng = np.random.RandomState(0)
    cells = rng.randint(N_CELLS, size=(N_COPIES, n))
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), size=(N_COPIES, n))
    return cells, signs


def sketch_vectors(x: Tensor) -> Tensor:
    """Vectors of any width, with ``N_CELLS`` features.

    Examples
    --------
    >>> import torch
    >>> sketch_vectors(torch.ones(2, 20_000)).shape
    torch.Size([2, 512])
    """
    cells, signs = map(torch.tensor, _cells_and_signs(x.shape[1]))
    into = torch.zeros(x.shape[1], N_CELLS)
    for where, sign in zip(cells, signs, strict=True):
        into.scatter_add_(1, where[:, None], sign[:, None])
    sketch: Tensor = x @ into.to(x) / N_COPIES**0.5
    return sketch


class WordSketch(NamedTuple):
    """Turns the token ids of a text into numbers.

    ``cells`` and ``signs`` have a row for each copy and a column for each word. ``padding`` is the
    id that fills up short texts; None if there is none.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> sketch = WordSketch.of(nn.Embedding(1000, 8))
    >>> sketch(torch.tensor([[3, 17, 3], [17, 3, 3]])).shape
    torch.Size([2, 512])
    """

    cells: Tensor
    signs: Tensor
    padding: int | None = None

    @classmethod
    def of(cls, net: nn.Module) -> Self | None:
        """For the words that a network knows; None if it has no word embeddings."""
        embedding = word_embedding(net)
        if embedding is None:
            return None
        n_words = min(embedding.num_embeddings, MOST_WORDS)
        cells, signs = _cells_and_signs(n_words)
        return cls(torch.tensor(cells), torch.tensor(signs), embedding.padding_idx)

    def __call__(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """One vector of length 1 a text; a word that occurs n times adds log(1 + n).

        Parameters
        ----------
        ids : integer tensor of shape (batch, length)
        mask : tensor of shape (batch, length), optional
            0 where there is no word.
        """
        words = ids.long() % self.cells.shape[1]
        weights = self._weights(words, ids, mask)
        sketch = torch.zeros(ids.shape[0], N_CELLS, device=ids.device)
        for cells, signs in zip(self.cells, self.signs, strict=True):
            of_words = signs.to(ids.device)[words] * weights
            sketch = sketch.scatter_add(1, cells.to(ids.device)[words], of_words)
        return nn.functional.normalize(sketch, dim=1)

    def _weights(self, words: Tensor, ids: Tensor, mask: Tensor | None) -> Tensor:
        """What each place of a text adds: its word's log(1 + n), shared among n places."""
        present = torch.ones_like(words) if mask is None else mask
        if self.padding is not None:
            present = present * (ids != self.padding)
        present = present.float()
        none = torch.zeros(ids.shape[0], self.cells.shape[1], device=ids.device)
        times = none.scatter_add(1, words, present).gather(1, words)
        return present * torch.log1p(times) / times.clamp(min=1.0)


def word_embedding(net: nn.Module) -> nn.Embedding | None:
    """The first layer of a network that turns token ids into vectors."""
    return next((m for m in net.modules() if isinstance(m, nn.Embedding)), None)


def are_token_ids(x: Tensor) -> bool:
    """Whether a network with word embeddings takes this for token ids."""
    return x.ndim == 2 and not x.is_floating_point() and not x.is_quantized
