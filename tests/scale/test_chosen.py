"""Who does the work, as users say it."""

import pytest

from rehead.gaussian.tasks import are_sent
from rehead.scale import workers


def test_threads_are_the_default_and_one_job_is_no_pool():
    for jobs in (None, 1):
        with workers(jobs):
            assert not are_sent()


def test_jobs_are_processes():
    with workers(2):
        assert are_sent()
    assert not are_sent()


def test_a_cluster_has_its_own_workers():
    with pytest.raises(ValueError, match="leave --jobs out"), workers(2, "tcp://127.0.0.1:1"):
        pass
