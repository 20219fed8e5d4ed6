"""What a label is: decided here, for every entry.

A label is text, a whole number (1.0 is one), a truth value or a time. It is never missing, and
labels of one data set are of one type. Text is taken as it stands: " cat" and "cat" are two
classes, with a warning.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from rehead._columns import LARGEST, as_column, missing_rows
from rehead._perrow import number_type, spans_of
from rehead._typing import Array
from rehead._values import first_few
from rehead._warnings import SKLEARN, warn

WORDS_FOR_NONE = {"nan", "NaN", "NAN", "NaT", "NA", "<NA>", "N/A", "n/a", "None", "null", "NULL"}
"""What programs write where there is no value. Read as text, each is a class."""


def check_labels(y: Any, n: int | None = None) -> Array:
    """Labels as a 1-d array without missing values, or an error that names the row and the fix.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        A list, an array, a masked array, a column of pandas, polars or pyarrow, a tensor.
    n : int, optional
        How many there must be.

    Examples
    --------
    >>> check_labels(["cat", "dog"])
    array(['cat', 'dog'], dtype='<U3')
    >>> check_labels(["cat", None, "dog"])
    Traceback (most recent call last):
        ...
    ValueError: Input y contains NaN, infinity or missing labels: 1 in all, row 1 first. Leave \
unlabelled rows out of fit; predict gives them a label.
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    labels = _one_dimension(as_column(y))
    if n is not None and len(labels) != n:
        raise ValueError(
            f"X has {n} rows and y has {len(labels)} labels: inconsistent numbers of samples. "
            "Pass one label for each row, in the same order."
        )
    check_no_missing_labels(labels)
    _check_one_type(labels)
    if labels.dtype.kind == "f":
        labels = labels + labels.dtype.type(0)  # -0.0 is 0
        _check_digits(labels)
        _check_whole(labels)
    elif labels.dtype.kind in "UO":
        _check_text(labels)
    with SKLEARN:
        check_classification_targets(labels)
    return labels


def check_no_missing_labels(y: Array) -> None:
    """Raise if a label is None, NaN, NaT, NA, or text without a letter."""
    missing = missing_rows(y)
    if y.dtype.kind in "UO":
        blank = [isinstance(v, str) and not v.strip() for v in y.tolist()]
        missing = missing | np.array(blank, bool)
    if missing.any():
        where = int(np.flatnonzero(missing)[0])
        what = " It is blank." if isinstance(y[where], str) else ""
        raise ValueError(
            f"Input y contains NaN, infinity or missing labels: {int(missing.sum())} in all, row "
            f"{where} first.{what} Leave unlabelled rows out of fit; predict gives them a label."
        )


def encode_labels(y: Array) -> tuple[Array, Array]:
    """Classes, sorted, and the code of each label; a warning tells of classes that look odd."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            "Classifier can't be trained with one class only: all labels are "
            f"{classes.tolist()[0]!r}. Pass samples of at least 2 classes."
        )
    warn_of_odd_classes(classes)
    return classes, _places(classes, y)


def small_codes(y: Array) -> tuple[Array, Array]:
    """As :func:`encode_labels`, in fewer bytes: for rows that may be many."""
    classes, codes = encode_labels(y)
    return classes, codes.astype(number_type(len(classes)))


def _places(classes: Array, y: Array) -> Array:
    """Where each label is among sorted classes; a span at a time, since sorting takes memory."""
    codes = np.empty(len(y), np.int64)
    for span in spans_of(len(y)):
        codes[span] = np.searchsorted(classes, y[span])
    return codes


def warn_of_odd_classes(classes: Array) -> None:
    """Say so if a class is a word for "no value", or if two look alike."""
    if classes.dtype.kind not in "UO":
        return
    names = classes.tolist()
    none = [name for name in names if name in WORDS_FOR_NONE]
    if none:
        warn(
            f"The label {none[0]!r} counts as a class. If it says that there is no label, leave "
            "those rows out of fit."
        )
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(_plain(name), name)
        if first != name:
            warn(
                f"The labels {first!a} and {name!a} look alike, and count as two classes. If they "
                "are one, bring them to one form, with label.strip().lower() for example."
            )
            return


def known_codes(y: Array, classes: Array) -> Array:
    """Codes of labels that must be among the fitted classes."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    # Lists of all labels are large: those of a plain type are looked up without.
    labels = y.tolist() if y.dtype.kind == "O" else np.unique(y).tolist()
    strange = sorted(set(labels) - code_of.keys(), key=str)
    if strange:
        raise ValueError(
            f"The model was not fitted on these labels: {first_few(strange)}. It knows "
            f"{first_few(classes.tolist())}; fit it on all classes, or leave those rows out."
            f"{_hint(strange, classes.tolist())}"
        )
    if y.dtype.kind == classes.dtype.kind != "O":
        return _places(classes, y)
    return np.array([code_of[label] for label in y.tolist()], np.int64)


def check_uncorrected(
    labels: Any, codes: Array, may_differ: Array | None, classes: Array
) -> Array | None:
    """Codes of labels before some were put right, which only some rows may show.

    They are the trusted ones, and those that a model has changed; None if ``trusted=`` says none.

    Examples
    --------
    >>> classes, may_differ = np.array(["cat", "dog"]), np.array([True, False])
    >>> check_uncorrected(["dog", "dog"], np.array([0, 1]), may_differ, classes)
    array([1, 1])
    """
    if labels is None:
        return None
    try:
        labels = check_labels(labels, len(codes))
        _refuse_classes_that_are_gone(labels, classes)
        before = known_codes(in_type_of(labels, classes), classes)
    except ValueError as error:
        raise ValueError(f"uncorrected, the labels before some were put right: {error}") from None
    changed = before != codes
    if may_differ is not None:
        changed &= ~may_differ
    if changed.any():
        row = int(changed.argmax())
        now, then = (classes[each[row]].item() for each in (codes, before))
        raise ValueError(
            f"The label of row {row} is {now!r} in y and {then!r} in uncorrected, and trusted does "
            "not say why. Give every row whose label has changed a word in trusted: 'chosen' if "
            "somebody checked it because it looked wrong, 'random' if it was drawn at random and "
            "checked, 'suggested' if a model changed it and nobody checked it. If nobody changed "
            "it, uncorrected is of other rows, or in another order: bring it into that of y."
        )
    if may_differ is None:
        raise ValueError(
            "uncorrected does nothing alone: it says what trusted labels were before they were put "
            "right, and equals y. Pass trusted= (the rows that were checked) too, or leave "
            "uncorrected out."
        )
    return before


def _refuse_classes_that_are_gone(labels: Array, classes: Array) -> None:
    """A review may put every label of a class right; how noisy the class was tells nothing then."""
    known = {*classes.tolist(), *map(str, classes.tolist())}
    gone = [
        label for label in set(labels.tolist()) if label not in known and str(label) not in known
    ]
    if gone:
        raise ValueError(
            f"y has no {first_few(sorted(gone, key=str))} any more. For rows whose class "
            "is gone, pass the corrected label there as well: where(isin(uncorrected, classes of "
            "y), uncorrected, y)."
        )


def in_type_of(labels: Array, classes: Array) -> Array:
    """Labels of a file in the type of the classes, where they are written alike.

    A file cannot tell 1 from "1", so the classes do. Labels that are none of the classes are an
    error.
    """
    if labels.dtype.kind == classes.dtype.kind:
        return labels
    known = set(classes.tolist())
    named = {str(label): label for label in classes.tolist()}
    found = [v if v in known else named.get(str(v), v) for v in labels.tolist()]
    strange = sorted({v for v in found if v not in known}, key=str)
    if strange:
        known_codes(np.array(strange, object), classes)
    return as_column(found)


def _one_dimension(labels: Array) -> Array:
    if labels.ndim == 1:
        return labels
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        return as_column(labels[:, 0])
    hint = " If it is one-hot, pass y.argmax(axis=1)." if labels.ndim == 2 else ""
    raise ValueError(
        f"y should be a 1d array, one label for each row; got shape {labels.shape}.{hint}"
    )


def _check_one_type(y: Array) -> None:
    """Raise if labels are not all text, all numbers, all truth values or all times."""
    if y.dtype.kind in "biufUmM":
        return
    kinds = sorted({type(v).__name__ for v in y.tolist()})
    if kinds == ["str"]:
        return
    if len(kinds) > 1:
        raise ValueError(
            f"The labels mix types ({', '.join(kinds)}), row {_first_change(y)} first. Convert "
            "them to one type, with [str(label) for label in y] for example."
        )
    if kinds == ["int"]:
        raise ValueError(
            f"Labels as large as {max(map(abs, y.tolist()))} do not fit into 64 bits. Make them "
            "text: [str(label) for label in y]."
        )
    fix = {
        "bytes": "Decode them: [label.decode() for label in y]",
        "date": "Convert them: numpy.array(y, 'datetime64[D]')",
        "datetime": "Convert them: numpy.array(y, 'datetime64[us]')",
        "list": "y should be a 1d array",
    }.get(kinds[0], "Make them text: [str(label) for label in y]")
    raise ValueError(f"Labels must be text or whole numbers, got {kinds[0]}. {fix}.")


def _first_change(y: Array) -> int:
    """The first row whose label is of another type than that of row 0."""
    kinds = [type(v) for v in y.tolist()]
    return next(row for row, kind in enumerate(kinds) if kind is not kinds[0])


def _check_digits(y: Array) -> None:
    """Raise if numbers may have lost digits before they came here."""
    exact = min(LARGEST, 2 ** (np.finfo(y.dtype).nmant + 1))
    large = np.flatnonzero(np.abs(y) >= exact)
    if len(large):
        row = int(large[0])
        raise ValueError(
            f"The label {y[row]:.0f} (row {row}) is too large for {y.dtype}, which drops its last "
            "digits. Pass whole numbers (int64) or text."
        )


def _check_whole(y: Array) -> None:
    """Raise if a number is not whole: it measures something, and names no class."""
    broken = np.flatnonzero(y != np.floor(y))
    if len(broken):
        row = int(broken[0])
        raise ValueError(
            f"Unknown label type: continuous. The label {y[row]} (row {row}) is no whole number, "
            f"like {len(broken)} of {len(y)}. A label names a class: text, or a whole number. If y "
            "is something measured, make classes of it: numpy.digitize(y, bounds). If these are "
            "names that look like numbers: y.astype(str)."
        )


def _check_text(y: Array) -> None:
    for label in set(y.tolist()):
        if "\0" in label:
            row = y.tolist().index(label)
            raise ValueError(
                f"The label {label!r} (row {row}) holds a NUL character, which numpy drops from "
                "the end of text. Remove it: [label.replace('\\0', '') for label in y]."
            )


def _hint(strange: Sequence[Any], classes: Sequence[Any]) -> str:
    """What differs, where it is only the type or the form."""
    if str(strange[0]) in {str(c) for c in classes}:
        ours, theirs = (type(v).__name__ for v in (classes[0], strange[0]))
        return f" The classes are of type {ours}, and these of type {theirs}: convert them."
    alike = [c for c in classes if isinstance(c, str) and _plain(c) == _plain(str(strange[0]))]
    if alike:
        return f" {strange[0]!a} and {alike[0]!a} differ in blanks or the form of letters only."
    return ""


def _plain(label: str) -> str:
    """A label without what eyes easily miss; single letters may be classes of their own."""
    plain = unicodedata.normalize("NFC", " ".join(label.split()))
    return plain.casefold() if len(plain) > 1 else plain
