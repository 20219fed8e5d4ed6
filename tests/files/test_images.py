"""Images below a folder."""

import os

from rehead.files.images import image_files


def test_hidden_files_and_links_to_folders_are_left_out(tmp_path):
    for name in ("b/2.png", "a/1.JPG", "a/notes.txt", ".hidden/3.png", "a/.4.png", "5.webp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.symlink(tmp_path / "b", tmp_path / "linked")
    found = [file.relative_to(tmp_path).as_posix() for file in image_files(tmp_path)]
    assert found == ["5.webp", "a/1.JPG", "b/2.png"]
