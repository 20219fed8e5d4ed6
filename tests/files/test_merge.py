"""Stores joined into one: only where they go together, and in the right order."""

from dataclasses import replace

import numpy as np
import pytest

from rehead.files.manifest import ORDER, StoreError, read_manifest, write_manifest
from rehead.files.merge import PART, merge_stores, part_of
from rehead.files.store import FeatureStore
from tests.files.test_chunks import N, columns, write


def parts(tmp_path, cuts=(0, 120, 150, N), **kinds):
    for i in range(3):
        write(tmp_path / f"p{i}", part=slice(cuts[i], cuts[i + 1]), **kinds)
    return [tmp_path / f"p{i}" for i in range(3)]


def change(folder, **changes):
    write_manifest(folder, replace(read_manifest(folder), **changes))


@pytest.mark.parametrize("numbered", [True, False])
def test_merged_stores_are_the_store_that_was_cut(tmp_path, numbered):
    whole = write(tmp_path / "whole", numbered=numbered)
    found = merge_stores(parts(tmp_path, numbered=numbered), tmp_path / "m", shard_rows=64)
    for name, values in columns(whole).items():
        np.testing.assert_array_equal(columns(found)[name], values)
    assert found.numbered == numbered
    assert found.difference(whole) == ""
    FeatureStore(tmp_path / "m", verify=True)


def test_parts_of_an_extraction_are_put_in_their_order(tmp_path):
    folders = parts(tmp_path)
    for i, folder in enumerate(folders):
        change(folder, made_from={ORDER: {"a": PART.format(i + 1, 3), "b": PART.format(i + 1, 3)}})
    assert part_of(FeatureStore(folders[1])) == (2, 3)
    found = merge_stores(folders[::-1], tmp_path / "m")
    np.testing.assert_array_equal(found.ids, write(tmp_path / "whole").ids)
    with pytest.raises(StoreError, match=r"p0: part 1 of 3, p2: part 3 of 3.*Give each part once"):
        merge_stores([folders[0], folders[2]], tmp_path / "n")
    with pytest.raises(StoreError, match="Give each part once"):
        merge_stores([*folders, tmp_path / "whole"], tmp_path / "n")


def test_stores_that_do_not_go_together(tmp_path):
    one, two, three = parts(tmp_path)
    with pytest.raises(StoreError, match=r"ids occur in more than one place \('0' first\)"):
        merge_stores([one, two, one], tmp_path / "m")
    change(two, fingerprint="other")
    with pytest.raises(StoreError, match=r"p1 was written by another network"):
        merge_stores([one, two], tmp_path / "m")
    change(two, fingerprint="net", layers=("a", "c"))
    with pytest.raises(StoreError, match=r"p1 was written by other layers"):
        merge_stores([one, two], tmp_path / "m")
    change(two, layers=("a", "b"), numbered=True)
    with pytest.raises(StoreError, match="one has ids, and the other only numbers"):
        merge_stores([one, two], tmp_path / "m")
    write(tmp_path / "unlabelled", labels=False)
    with pytest.raises(StoreError, match=r"p2 has labels, and .*unlabelled has none"):
        merge_stores([tmp_path / "unlabelled", three], tmp_path / "m")
    with pytest.raises(ValueError, match="two stores or more"):
        merge_stores([one], tmp_path / "m")
    with pytest.raises(ValueError, match="is one of the stores"):
        merge_stores([one, three], one)
    assert not (tmp_path / "m").exists()


def test_ids_of_different_types(tmp_path):
    one, *_ = parts(tmp_path)
    write(tmp_path / "n", numbered=True)
    change(tmp_path / "n", numbered=False)
    with pytest.raises(StoreError, match="ids of the stores are of different types"):
        merge_stores([one, tmp_path / "n"], tmp_path / "m")
