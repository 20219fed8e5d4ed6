"""LabelReport: what a model thinks of each label, and ways to look at it."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._columns import as_column
from rehead._typing import Array
from rehead.audit import export, review
from rehead.audit.inputs import count_labels, rows_of, rows_of_samples
from rehead.audit.kinds import OUTLIER
from rehead.audit.neighbours import Neighbours, Samples, nearest_others
from rehead.audit.protocol import LabelJudge
from rehead.audit.samerows import check_judged
from rehead.audit.scores import LabelScores
from rehead.audit.summary import SHOWN, headline, summary
from rehead.files.tables import write_csv


@dataclass(frozen=True, eq=False, repr=False)
class LabelReport(LabelScores):
    """What the model thinks of each given label, in the order of the input.

    ``print`` shows a summary.

    Attributes
    ----------
    given : array of shape (n_samples,)
        The labels that were judged.
    quality : array of shape (n_samples,)
        Probability that the given label is right, in [0, 1]; low is suspect. Where the model has
        measured the noise ("auto", "anchored", "mixture"), it takes into account how common such
        errors are; otherwise it is the posterior of the label alone. Where classes are apart, of
        the labels with quality q a share of about q is right. Where they overlap, it is too low for
        hard samples.
    suggested : array of shape (n_samples,)
        The most probable label.
    suggested_probability : array of shape (n_samples,)
    kind : array of shape (n_samples,)
        "ok", "wrong label", "ambiguous" or "out of distribution"; see :mod:`rehead.audit.kinds`
        for the rules.
    typicality : array of shape (n_samples,)
        P-value of the sample being like the trusted training samples (:func:`rehead.typicality`):
        low for samples unlike all classes. NaN where the model cannot tell.
    order : array of shape (n_samples,)
        Row numbers, worst label first.
    noise_rate : float
        Estimated share of labels that are wrong, or too hard to tell by these features: the mean of
        ``1 - quality``.
    noise_rate_error : float
        Its counting error only, where the model has measured the noise, else NaN. Where classes
        overlap, hard samples make the rate too large by more than that.
    noise_least, noise_most : float
        Share of wrong labels at least and at most: if labels of hard samples are right, and if they
        are guesses; NaN where the model cannot tell.
    transition : array of shape (n_classes, n_classes)
        Estimated probability of each given label (column) for each true one (row).
    classes : array of shape (n_classes,)
        Labels, in the order of the transition matrix.
    in_sample : boolean array of shape (n_samples,)
        Whether the row was judged by estimates that leave it out.
    ids : array of shape (n_samples,) or None
        Names of the samples, where they have any.
    model : LabelJudge or None
        The model that judged.
    """

    def mislabelled(self) -> Array:
        """Ids (row numbers where there are none) of labels that are probably wrong, worst first.

        A label is probably wrong if another one is more probable.
        """
        named: Array = self.names[self.order[self.suspect[self.order]]]
        return named

    def worst(self, n: int | None = None) -> Array:
        """Ids (row numbers where there are none) of the n worst labels, those to review.

        Parameters
        ----------
        n : int, optional
            Default: :meth:`n_review`.
        """
        n = self.n_review() if n is None else review.check_number(n)
        named: Array = self.names[self.order[:n]]
        return named

    def corrected(self, min_probability: float = 0.9) -> Array:
        """Labels in the order of the input, corrected where the suggestion is sure enough.

        Samples that are unlike every class keep their labels: no class fits them.

        Parameters
        ----------
        min_probability : float in (0, 1], default=0.9
            A label is replaced if its suggestion has at least this probability.

        Examples
        --------
        >>> import numpy as np
        >>> from rehead import RobustGaussianClassifier, score_labels
        >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
        >>> y = np.repeat(["cat", "dog"], 30)
        >>> y[4] = "dog"
        >>> report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        >>> str(report.corrected()[4]), int((report.corrected() != y).sum())
        ('cat', 1)
        """
        if not (check.is_real(min_probability) and 0 < min_probability <= 1):
            raise ValueError(f"min_probability must be in (0, 1], got {min_probability!r}.")
        sure = self.suspect & (self.suggested_probability >= min_probability)
        labels: Array = np.where(sure & (self.kind != OUTLIER), self.suggested, self.given)
        return labels

    def n_review(self, share: float = review.SHARE, one_in: float = review.ONE_IN) -> int:
        """How many of the worst labels to look at.

        Parameters
        ----------
        share : float in (0, 1], default=0.95
            Share of the wrong labels that are found, in expectation.
        one_in : float, default=10
            Labels that are wrong with a chance of less than one in ``one_in`` are not worth a look,
            even if the share is not reached: with clean labels, it would take nearly all of them.
            ``inf``: no such limit.
        """
        return review.n_review(self.quality, share, one_in)

    def expected_wrong(self, n: int | None = None) -> float:
        """How many of the n worst labels (default: all) are wrong, in expectation."""
        return review.expected_wrong(self.quality, n)

    def neighbours(
        self, which: Any, X: Any, k: int = 5, *, train: Sequence[Any] | None = None
    ) -> Neighbours:
        """The nearest samples that have other labels: what speaks against the label of a sample.

        A model does not keep its training features, so they have to be passed again. Distances are
        measured in the space in which labels are judged; one pass serves all samples asked about.

        Parameters
        ----------
        which : id or sequence of ids
            The samples in question: ids, or row numbers where there are none.
        X : array-like, or mapping of layers
            The features that were judged, all of them.
        k : int, default=5
            How many neighbours; fewer where there are fewer samples with other labels.
        train : (X, y) or (X, y, ids), optional
            Look for neighbours among these samples instead, which have labels that the model knows.
            Default: among those judged.

        Examples
        --------
        >>> import numpy as np
        >>> from rehead import RobustGaussianClassifier, score_labels
        >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
        >>> y = np.repeat(["cat", "dog"], 30)
        >>> y[4] = "dog"
        >>> report = score_labels(RobustGaussianClassifier("sample").fit(X, y), X, y)
        >>> near = report.neighbours(4, X, k=2)
        >>> near.labels.tolist(), near.rows.tolist()
        ([['cat', 'cat']], [[13, 22]])
        """
        model = self._judging_model()
        rows = rows_of_samples(which, self.ids, len(self))
        if count_labels(model, X) != len(self):
            raise ValueError(
                f"X must be the features that were judged, {len(self)} rows; got "
                f"{count_labels(model, X)}. For neighbours among other samples pass train=(X, y)."
            )
        check_judged(self, X)
        among, labels, ids = (X, self.given, self.ids) if train is None else _samples(train)
        n = count_labels(model, among)
        labels = check.check_labels(labels, n)
        check.known_codes(labels, self.classes)
        if ids is not None and len(ids) != n:
            raise ValueError(f"train has {n} samples and {len(ids)} ids: pass one id for each.")
        if int(k) != k or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
        asked = Samples(rows_of(X, rows), self.given[rows])
        found = nearest_others(model, asked, Samples(among, labels), int(k))
        return Neighbours(
            samples=self.names[rows],
            given=self.given[rows],
            rows=found.rows,
            ids=found.rows if ids is None else as_column(ids)[found.rows],
            labels=labels[found.rows],
            distances=found.distances,
            quality=self.quality[found.rows] if train is None else None,
        )

    def table(self, *, worst_first: bool = True) -> dict[str, Array]:
        """The report as columns: ids (or row numbers), labels, quality, suggestion, kind."""
        return export.columns(self, worst_first=worst_first)

    def to_frame(self, *, worst_first: bool = True) -> Any:
        """The report as a ``pandas.DataFrame``, its index the ids (or row numbers)."""
        columns = self.table(worst_first=worst_first)
        frame = export.pandas().DataFrame(columns)
        return frame.set_index(next(iter(columns)))

    def to_csv(self, path: str | os.PathLike[str], *, worst_first: bool = True) -> None:
        """Write the report as CSV, whole or not at all; numbers are written to the last digit.

        The file is for people: text that a spreadsheet program would run as a formula (=, +, -, @)
        gets a quotation mark in front. For programs, write :meth:`corrected` or :meth:`to_frame`.
        """
        columns = self.file_columns(worst_first=worst_first)
        write_csv(Path(path), columns, for_people=True)

    def to_html(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        images: Any = None,
        texts: Any = None,
        table: Any = None,
        truth: Any = None,
    ) -> Path:
        """Write the report as one HTML page that holds everything, and return its path.

        Parameters
        ----------
        path : path
        X : array-like, or mapping of layers, optional
            The features that were judged: for a map of the samples, what each layer knows, and
            classes that seem to be two or one. A model does not keep them.
        images : folder, .npy file, or array of shape (n_samples, height, width), optional
            What samples look like; with 1, 3 or 4 channels first or last. Files of a folder are
            found by ids, which are their paths there or their names.
        texts : FILE:COLUMN, or sequence of str, optional
        table : file, DataFrame or dict of columns, optional
            The same for samples that are texts or rows of a table. Give one of the three.
        truth : array-like of shape (n_samples,), optional
            True labels, missing (None, NaN or "") where they are not known.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> from rehead import RobustGaussianClassifier, score_labels
        >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
        >>> y = np.repeat(["cat", "dog"], 30)
        >>> y[4] = "dog"
        >>> report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        >>> with TemporaryDirectory() as folder:
        ...     page = report.to_html(f"{folder}/report.html", X, texts=[f"text {i}" for i in y])
        ...     page.name, page.stat().st_size < 500_000
        ('report.html', True)
        """
        # The page is made above this room, from it.
        from rehead.report.page import Beside, write_report
        from rehead.report.shown import Looks

        looks = Looks(images, texts, table)
        return write_report(self, path, Beside(X, looks, truth))

    def file_columns(self, *, worst_first: bool = True) -> dict[str, Array]:
        """The columns of :meth:`table` as files hold them: times as text."""
        return export.as_text(self.table(worst_first=worst_first))

    def as_cleanlab(self) -> Any:
        """The ``pandas.DataFrame`` that cleanlab's ``CleanLearning.get_label_issues()`` gives.

        One row for each sample, in input order, with the columns is_label_issue, label_quality,
        given_label and predicted_label; labels are numbers of ``classes``, as cleanlab has it.
        """
        return export.pandas().DataFrame(export.cleanlab_columns(self))

    def ranked_issues(self, ranked_by: str = "self_confidence") -> Array:
        """Row numbers of probably wrong labels, worst first, in the order that cleanlab gives.

        As ``cleanlab.filter.find_label_issues(..., return_indices_ranked_by=ranked_by)``.

        Parameters
        ----------
        ranked_by : {"self_confidence", "normalized_margin"}
            By the probability of the given label, or by how much the suggested one exceeds it.
        """
        return export.ranked_issues(self, ranked_by)

    def summary(self, show: int = SHOWN) -> str:
        """What ``print`` shows, with the ``show`` worst labels."""
        return summary(self, show)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return headline(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _judging_model(self) -> LabelJudge:
        if self.model is None:
            raise ValueError(
                "This report has lost its model. Judge the labels again with score_labels."
            )
        return self.model


def _samples(train: Sequence[Any]) -> tuple[Any, Any, Any]:
    if not isinstance(train, (tuple, list)) or not 2 <= len(train) <= 3:
        raise ValueError("train must be (X, y) or (X, y, ids).")
    X, y, *rest = train
    ids = rest[0] if rest else None
    check.check_aligned(X, y=y, ids=ids)
    return X, y, ids
