"""A server on this machine."""

import pytest

from rehead.files.lock import LockedError
from rehead.review import serving
from rehead.review.serving import Address, hosts_of, listen, only_page_of


def test_a_port_in_use_is_named_and_otherwise_the_next_is_taken():
    first = listen(Address(port=0))
    port = first.getsockname()[1]
    with pytest.raises(OSError, match=rf"^The port {port} is in use.*--port"):
        listen(Address(port=port))
    second, third = listen(Address()), listen(Address())
    assert second.getsockname()[1] != third.getsockname()[1]
    assert first.getsockname()[0] == "127.0.0.1"
    for found in (first, second, third):
        found.close()


def test_an_address_that_is_not_ours_is_named():
    with pytest.raises(OSError, match=r"Cannot listen at 192\.0\.2\.1"):
        listen(Address("192.0.2.1", 0))


def test_hosts_are_those_of_this_machine_or_the_one_that_was_named():
    assert hosts_of("127.0.0.1", 9) == ["127.0.0.1:9", "localhost:9", "[::1]:9"]
    assert hosts_of("desk.example", 9) == ["desk.example:9"]


def test_one_page_for_each_file_of_decisions(tmp_path):
    first = only_page_of(tmp_path / "decisions.sqlite")
    other = only_page_of(tmp_path / "other.sqlite")
    with pytest.raises(LockedError, match=r"decisions\.sqlite open\. Use its page.*--log"):
        only_page_of(tmp_path / "decisions.sqlite")
    first.release()
    only_page_of(tmp_path / "decisions.sqlite").release()
    other.release()
    with pytest.raises(FileNotFoundError, match="Make it first"):
        only_page_of(tmp_path / "nowhere" / "decisions.sqlite")


def test_a_read_only_folder_says_where_else_decisions_can_go(tmp_path, monkeypatch):
    def refuse(folder, name):
        raise PermissionError(13, "Permission denied", f"{folder}/{name}")

    monkeypatch.setattr(serving, "FolderLock", refuse)  # root may write everywhere
    with pytest.raises(PermissionError, match=r"cannot be written.*--log FILE") as refused:
        only_page_of(tmp_path / "decisions.sqlite")
    assert "Errno" not in str(refused.value)
