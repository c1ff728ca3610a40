import os
import stat
import threading

import pytest

from vwkde._runtime.files import whole_file, write_text


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"half", "not bytes"])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_an_interrupt_that_comes_when_the_file_has_its_name_is_no_other_error(tmp_path, monkeypatch):
    """The temporary file is gone then; that it could not be removed was reported instead of the interrupt."""
    replace = os.replace

    def replaced_then_interrupted(*paths):
        replace(*paths)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replaced_then_interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "scores.csv", "all")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["all"]


def test_new_files_obey_the_umask_and_old_ones_keep_their_mode(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o600)
    before = os.umask(0o027)
    try:
        write_text(new, "")
        write_text(old, "")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert mode(new) == 0o640
    assert mode(old) == 0o600


def test_several_threads_may_write_one_file(tmp_path):
    path = tmp_path / "a.txt"
    texts = [str(k) * 10_000 for k in range(8)]
    threads = [threading.Thread(target=write_text, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_folder_that_is_not_there_is_told_with_the_users_name_of_the_file(tmp_path):
    path = tmp_path / "none" / "a.txt"
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none; create it first") as told:
        write_text(path, "")
    assert told.value.filename == str(path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as told:
        write_text(tmp_path / "file" / "a.txt", "")
    assert told.value.filename == str(tmp_path / "file" / "a.txt")
