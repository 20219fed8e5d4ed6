"""Some of the samples."""

import pytest

from rehead.review.filters import Filter, FilterError, read_filter, rows_matching


def test_a_filter_is_read_from_a_query():
    asked = {"given": "1", "suggested": "", "kind": "ambiguous", "reviewer": "Ann", "scope": "all"}
    assert read_filter(asked, 3, []) == Filter(1, None, "ambiguous", None, "Ann", None, "all")
    assert not read_filter({}, 3, []).active


@pytest.mark.parametrize(
    "asked",
    [{"given": "3"}, {"given": "-1"}, {"suggested": "x"}, {"kind": "odd"}, {"layer": "a"}],
)
def test_what_is_not_there_is_named(asked):
    with pytest.raises(FilterError, match=next(iter(asked))):
        read_filter(asked, 3, ["b"])


def test_filters_by_class_pair_kind_status_and_reviewer(desk, decide):
    report = desk.report

    def found(**wanted):
        return rows_matching(Filter(**wanted), report, desk.standings, desk.evidence).tolist()

    assert found() == desk.subject.suspects.tolist()
    assert len(found(scope="all")) == len(report)
    assert all(report.given[row] == report.classes[0] for row in found(given=0))
    for row in found(given=0, suggested=1):
        assert (report.given[row], report.suggested[row]) == tuple(report.classes[:2])
    assert all(report.kind[row] == "ok" for row in found(kind="ok", scope="all"))
    row = decide(desk, who="Bo").row
    assert found(status="decided") == found(reviewer="Bo") == [row]
    assert row not in found(status="undecided")
