"""Shards as one array."""

import numpy as np

from rehead.files.joined import Joined


class TestJoined:
    parts = (np.arange(6.0).reshape(3, 2), np.arange(6.0, 14.0).reshape(4, 2), np.ones((1, 2)))

    def test_any_slice_is_that_of_the_whole(self):
        whole, joined = np.concatenate(self.parts), Joined(list(self.parts))
        assert (len(joined), joined.shape) == (8, (8, 2))
        for a in (None, *range(-9, 10)):
            for b in (None, *range(-9, 12)):
                np.testing.assert_array_equal(joined[a:b], whole[a:b])
        np.testing.assert_array_equal(np.asarray(joined, np.float32), whole)

    def test_nothing_is_copied_within_a_shard(self):
        joined = Joined(list(self.parts))
        assert np.shares_memory(joined[3:6], self.parts[1])
        assert not np.shares_memory(joined[2:6], self.parts[1])

    def test_rows_by_number_or_mask_are_those_of_the_whole(self):
        whole, joined = np.concatenate(self.parts), Joined(list(self.parts))
        for rows in ([7, 0, 3, 3], [], [-1, 2], whole[:, 0] > 4):
            rows = np.asarray(rows, None if len(rows) else int)
            np.testing.assert_array_equal(joined[rows], whole[rows])

    def test_no_text_is_cut_off(self):
        joined = Joined([np.array(["a", "b"]), np.array(["longer"])])
        assert joined[np.array([2, 0])].tolist() == ["longer", "a"]
        assert joined[1:].tolist() == ["b", "longer"]
