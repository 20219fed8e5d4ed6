"""What 79 fits give, number by number: recorded once, compared after every reshaping.

    python benchmarks/golden.py --record     # with code that is believed
    python benchmarks/golden.py              # with code that should do the same

Fits cover every estimator, presets, options, sample weights, trusted labels, both precisions,
ensembles and heads. What is kept of each: posteriors of new samples, weights of members, the
measured noise, trust, typicality, the quality of every label. Comparing prints one line a fit, the
largest difference and where it is; it fails if one is larger than rounding explains.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # sums in one order, whatever the machine

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels, typicality

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "golden.npz"
ROUNDING = 1e-5
"""Differences up to here, relative to the largest entry of an array, are rounding."""
ROWS = 40
"""So many rows are kept of what has a row for each sample."""
OURS = ("auto", "anchored")
"""The default, and what it is without a map and a second opinion."""


Result = dict[str, Any]


def blobs(
    n: int = 900, d: int = 6, classes: int = 4, spread: float = 1.6, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes that overlap a little, and their true labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    means = spread * rng.normal(size=(classes, d))
    mix = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + means[y], y


def of_classifier(clf: RobustGaussianClassifier, X: Any, y: Any, new: Any) -> Result:
    """What there is to compare of a classifier."""
    report = score_labels(clf, X, y)
    found = {
        "posterior": clf.predict_proba(new)[:ROWS],
        "density": clf.score_samples(new)[:ROWS],
        "means": clf.means_,
        "log_det": clf.log_det_,
        "priors": clf.priors_,
        "trust": clf.trust_[:: max(len(clf.trust_) // ROWS, 1)],
        "support": clf.support_.sum(),
        "steps": clf.n_iter_,
        **of_labels(report),
        "typical": typicality(clf, new)[:ROWS],
    }
    return found | of_noise(clf.noise_)


def of_labels(report: Any) -> Result:
    """What there is to compare of a label report."""
    every = slice(None, None, max(len(report.quality) // (4 * ROWS), 1))
    return {
        "quality": report.quality[every],
        "suggested": report.suggested_probability[every],
        "typical of train": report.typicality[every],
        "kinds": np.array([(report.kind == k).sum() for k in np.unique(report.kind)]),
        "transition seen": report.transition,
        "rate": np.array([report.noise_rate, report.noise_rate_error]),
        "known": report.in_sample.sum(),
    }


def of_noise(measured: Any) -> Result:
    """What there is to compare of a noise model."""
    if measured is None:
        return {}
    return {
        "T": measured.transition,
        "noise": np.array([measured.temperature, measured.rate, measured.wrong, measured.nll]),
        "anchors": measured.anchors,
    }


def of_ensemble(model: LayerEnsemble, layers: Any, y: Any, new: Any) -> Result:
    """What there is to compare of an ensemble."""
    found = {
        "posterior": model.predict_proba(new)[:ROWS],
        "density": model.score_samples(new)[:ROWS],
        "weights": model.weights_,
        **{
            f"member {name}": p[:ROWS]
            for name, p in zip(model.members_, model.member_posteriors(new), strict=True)
        },
        **of_labels(score_labels(model, layers, y)),
        "typical": typicality(model, new)[:ROWS],
    }
    if model.consensus_ is not None:
        trust = model.consensus_.trust
        found["trust"] = trust[:: max(len(trust) // ROWS, 1)]
        found["gaps"] = np.array([*model.consensus_.gaps.values()])
        found |= of_noise(model.consensus_.noise)
    return found


def classifiers() -> Iterator[tuple[str, Callable[[], Result]]]:
    """Estimators, presets and options."""
    X, truth = blobs()
    y = noise.uniform(truth, 0.3, random_state=1).labels
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 3, size=600).astype(float)
    trusted = (y == truth)[:600] & (rng.random(600) < 0.2)

    def fit(data: Any = (X, y), weight: Any = None, known: Any = None, **kwargs: Any) -> Result:
        X, y = data
        n = 2 * len(y) // 3
        clf = RobustGaussianClassifier(**{"random_state": 0, **kwargs})
        clf.fit(X[:n], y[:n], sample_weight=weight, trusted=known)
        return of_classifier(clf, X[:n], y[:n], X[n:])

    names = [
        *OURS,
        "agreement",
        "mixture",
        "mcd",
        "posterior",
        "sample",
        "identity",
        "lts",
        "trimmed-kmeans",
    ]
    for name in names:
        yield name, lambda name=name: fit(estimator=name)
        yield f"{name}, weights", lambda name=name: fit(weight=weights, estimator=name)
    for name in (*OURS, "agreement", "mixture", "mcd", "posterior", "trimmed-kmeans"):
        yield f"{name}, trusted", lambda name=name: fit(known=trusted, estimator=name)
    for preset in ("paper", "authors"):
        yield f"preset {preset}", lambda preset=preset: fit(preset=preset)
    options: dict[str, dict[str, Any]] = {
        "three starts": {"n_starts": 3},
        "deterministic": {"start": "deterministic"},
        "leave-one-out": {"leave_one_out": True, "max_steps": 4},
        "share of 0.7, shrunk": {"support_fraction": 0.7, "shrinkage": "auto"},
    }
    for what, kwargs in options.items():
        yield f"mcd, {what}", lambda kwargs=kwargs: fit(estimator="mcd", **kwargs)
    yield "sample, empirical priors", lambda: fit(estimator="sample", priors="empirical")
    names_of = np.array(["ash", "oak", "elm", "yew"])
    far = X.copy()
    far[:5] = 1e5
    for name in OURS:
        ours = partial(fit, estimator=name)
        yield f"{name}, shrinkage 0.2", partial(ours, shrinkage=0.2)
        yield f"{name}, small weights", partial(ours, weight=(weights + 1) / 1e4)
        yield f"{name}, text labels", partial(ours, (X, names_of[y]))
        yield f"{name}, far rows", partial(ours, (far, y))
    digits, digit = load_digits(return_X_y=True)
    flipped = noise.flip(digit, 0.4, random_state=0).labels
    for dtype in (np.float32, np.float64):
        pixels = digits.astype(dtype)
        for name in (*OURS, "mixture", "posterior"):
            kwargs = {"estimator": name, "shrinkage": "auto"}
            yield (
                f"{name}, digits, {np.dtype(dtype)}",
                lambda pixels=pixels, kwargs=kwargs: fit((pixels, flipped), **kwargs),
            )
    few, few_truth = blobs(180, 40, 3, 0.8, seed=5)
    few_y = noise.uniform(few_truth, 0.2, random_state=3).labels
    unequal = np.r_[np.flatnonzero(truth == 0), np.flatnonzero(truth != 0)[:120]]
    unequal = np.random.default_rng(0).permutation(unequal)
    for name in OURS:
        ours = partial(fit, estimator=name)
        yield f"{name}, few samples", partial(ours, (few, few_y))
        yield f"{name}, unequal classes", partial(ours, (X[unequal], y[unequal]))


def world(kind: str, rate: float, n: int = 2400, weak: float = 2.0) -> dict[str, Any]:
    """An honest layer, one that knows its training labels by heart, and a network's softmax."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=n)
    means = weak * rng.normal(size=(4, 6))
    early = rng.normal(size=(n, 6)) + means[truth]
    y = noise.NOISES[kind](truth, rate, random_state=7).labels
    train = np.arange(n) < n // 2
    seen, blur = np.where(train, y, truth), np.where(train, 0.3, 1.5)[:, None]
    deep = 3.0 * np.eye(4)[seen] + blur * rng.normal(size=(n, 4))
    middle = np.hstack([early[:, :3], deep[:, :3]]) + 0.5 * rng.normal(size=(n, 6))
    logits = 4.0 * np.eye(4)[seen] + rng.normal(size=(n, 4))
    layers = {"early": early, "middle": middle, "deep": deep, "softmax": logits}
    return {"layers": layers, "y": y, "truth": truth}


def ensembles() -> Iterator[tuple[str, Callable[[], Result]]]:
    """The consensus in its cases, and the paper's ensemble."""

    def fit(
        of: dict[str, Any],
        names: str = "early middle deep",
        dtype: Any = np.float64,
        split: bool = True,
        known: bool = False,
        groups: bool = False,
        **kwargs: Any,
    ) -> Result:
        y, n = of["y"], len(of["y"])
        cut, end = n // 2, n // 2 + (n // 4 if n < 6000 else 3 * n // 8)
        parts = slice(0, cut), slice(cut, end), slice(end, None)
        train, held, new = (
            {name: of["layers"][name][p].astype(dtype) for name in names.split()} for p in parts
        )
        trusted = (y == of["truth"])[:cut] & (np.arange(cut) % 5 == 0) if known else None
        together = np.arange(cut) // 7 if groups else None
        model = LayerEnsemble(**{"random_state": 0, **kwargs}).fit(
            train,
            y[:cut],
            validation=(held, y[parts[1]]) if split else None,
            trusted=trusted,
            groups=together,
        )
        return of_ensemble(model, train, y[:cut], new)

    uniform, flip, clean = world("uniform", 0.4), world("flip", 0.4), world("uniform", 0.0)
    weak = world("uniform", 0.3, n=8000, weak=0.5)
    both = "early middle deep softmax"
    given = {"names": both, "given": ["softmax"]}
    yield "consensus, uniform", lambda: fit(uniform)
    yield "consensus, flip", lambda: fit(flip)
    yield "consensus, clean, softmax", lambda: fit(clean, **given)
    yield "consensus, uniform, softmax", lambda: fit(uniform, **given)
    yield "consensus, float32", lambda: fit(flip, dtype=np.float32, **given)
    yield "consensus, weak judges", lambda: fit(weak)
    yield "consensus, weak judges, softmax", lambda: fit(weak, **given)
    yield "consensus, trusted", lambda: fit(flip, known=True)
    yield "consensus, own split", lambda: fit(flip, split=False)
    yield "consensus, own split, groups", lambda: fit(flip, split=False, groups=True, known=True)
    yield "consensus, one layer", lambda: fit(flip, "early", split=False)
    yield "consensus, one layer, held out", lambda: fit(flip, "early")
    yield "consensus, all memorised", lambda: fit(uniform, "deep")
    yield "consensus, shrinkage 0.3", lambda: fit(uniform, shrinkage=0.3)
    for preset in ("paper", "authors"):
        yield f"ensemble, {preset}", lambda preset=preset: fit(uniform, preset=preset)
    yield "ensemble, corrected", lambda: fit(uniform, weights="corrected", **given)
    yield "ensemble, auto, equal", lambda: fit(uniform, weights="equal")
    yield "ensemble, stack", lambda: fit(uniform, "early deep", stack=True, estimator="mcd")
    yield "ensemble, mcd, softmax", lambda: fit(uniform, estimator="mcd", **given)
    yield (
        "ensemble, penultimate",
        lambda: fit(uniform, estimator="mcd", penultimate="early", known=True),
    )


def heads() -> Iterator[tuple[str, Callable[[], Result]]]:
    """Heads of a small network that has memorised 40 % wrong digits."""
    import torch
    from torch import nn

    from rehead.torch import RobustHead

    digits, digit = load_digits(return_X_y=True)
    x = torch.from_numpy((digits / 16).astype(np.float32))
    y = torch.from_numpy(noise.uniform(digit, 0.4, random_state=0).labels)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10)
    )
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(400):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x[:1000]), y[:1000]).backward()
        optimiser.step()
    net.eval()

    def fit(layers: Any = "auto", **kwargs: Any) -> Result:
        head = RobustHead(net, layers, random_state=0, **kwargs)
        head.fit((x[:1000], y[:1000]), validation=(x[1000:1300], y[1000:1300]))
        new = (x[1300:], torch.from_numpy(digit[1300:]))
        found = {
            "posterior": head.predict_proba(x[1300:])[:ROWS],
            "weights": head.ensemble_.weights_,
            "typical": head.typicality(x[1300:])[:ROWS],
            "module": head.to_module().eval()(x[1300:1340]).detach().numpy(),
            "suspects": np.sort(head.find_mislabelled())[:ROWS],
            "robust": np.array(head.compare(new).rows["robust"]),
            **of_labels(head.report_),
        }
        with tempfile.TemporaryDirectory() as folder:
            head.save(Path(folder) / "head")
            again = RobustHead.load(Path(folder) / "head", net)
        found["posterior, loaded"] = again.predict_proba(x[1300:])[:ROWS]
        return found

    yield "head", fit
    yield "head, paper", lambda: fit(preset="paper")
    yield "head, no softmax", lambda: fit(["0", "2"], softmax=False)
    yield "head, mcd, softmax", lambda: fit(estimator="mcd", softmax=True)


def all_fits() -> dict[str, Result]:
    """Every fit, by name."""
    found = {}
    for cases in (classifiers, ensembles, heads):
        for name, run in cases():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = {k: np.asarray(v, np.float64) for k, v in run().items()}
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return found


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the largest entry; infinite for other shapes."""
    if a.shape != b.shape or (np.isnan(a) != np.isnan(b)).any():
        return np.inf
    if not a.size:
        return 0.0
    size = max(float(np.nanmax(np.abs(a), initial=0.0)), 1.0)
    return float(np.nanmax(np.abs(a - b), initial=0.0)) / size


def compare(now: dict[str, Result], before: dict[str, Result]) -> int:
    """Print how far every fit is from the recorded one; how many differ."""
    verdicts = Counter[str]()
    for name in before:
        found = now.get(name, {})
        apart = {k: difference(v, found.get(k, np.empty(0))) for k, v in before[name].items()}
        differs = {k: d for k, d in apart.items() if d > ROUNDING}
        verdict = "DIFFERS" if differs else "same"
        verdicts[verdict] += 1
        where = ", ".join(f"{k} {d:.1e}" for k, d in differs.items())
        print(f"{verdict:9} {max(apart.values()):8.1e}  {name}{': ' if where else ''}{where}")
    counts = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())
    print(f"{len(before)} fits: {counts}")
    return verdicts["DIFFERS"]


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write what this code gives")
    asked = parser.parse_args()
    now = all_fits()
    if asked.record:
        flat = {f"{name}|{k}": v for name, found in now.items() for k, v in found.items()}
        np.savez_compressed(FILE, **flat)
        print(f"{len(now)} fits: {FILE}")
        return
    before: dict[str, Result] = {}
    with np.load(FILE) as file:
        for key in file.files:
            name, _, what = key.partition("|")
            before.setdefault(name, {})[what] = file[key]
    sys.exit(compare(now, before) > 0)


if __name__ == "__main__":
    main()
