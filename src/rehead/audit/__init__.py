"""Which labels are wrong, and how many: the model turned on the labels of its samples.

``protocol.py`` what is asked of a model; ``pipelines.py`` models, and pipelines that end in one;
``inputs.py`` samples in blocks, ids; ``judging.py`` the quality of labels, block by block;
``kinds.py`` what is wrong with a sample; ``scoring.py`` puts these together; ``scores.py`` and
``report.py`` the result, with ``review.py``, ``neighbours.py``, ``export.py`` and ``summary.py``
behind its methods; ``files.py`` an audit of files. Beside that ``outliers.py``, which samples are
strange, and ``abstention.py``, when not to predict.
"""

from rehead.audit.neighbours import Neighbours
from rehead.audit.report import LabelReport
from rehead.audit.scoring import find_mislabelled, score_labels

__all__ = ["LabelReport", "Neighbours", "find_mislabelled", "score_labels"]
