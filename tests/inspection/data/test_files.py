import os

import pytest

from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.files import find_images, list_files, list_folders, list_images
from vwkde.inspection.data.images import read_image


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "images"
    for name in (
        *("10.png", "2.PNG", "b.jpeg", "a.Tif", "notes.txt", "Thumbs.db", ".DS_Store", "._2.png", "1.pgm"),
        *("sub/3.bmp", "sub/deep/1.webp", ".hidden/4.png", "folder.png/5.jpg"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_images_are_found_in_natural_order(folder):
    assert [path.name for path in find_images(folder)] == ["1.pgm", "2.PNG", "10.png", "a.Tif", "b.jpeg"]
    below = [path.relative_to(folder).as_posix() for path in find_images(folder, recursive=True)]
    assert below == ["1.pgm", "2.PNG", "10.png", "a.Tif", "b.jpeg", "folder.png/5.jpg", "sub/3.bmp", "sub/deep/1.webp"]
    assert [path.name for path in list_folders(folder)] == ["folder.png", "sub"]
    assert [path.name for path in list_files(folder / "sub")] == ["3.bmp"]


def test_files_that_lead_nowhere_are_found_and_then_named(folder):
    (folder / "3.png").symlink_to(folder / "gone.png")
    (path,) = [path for path in find_images(folder) if path.name == "3.png"]
    with pytest.raises(ImageError, match=r"3\.png: there is no such file"):
        read_image(path)


def test_folders_without_images_are_refused(folder, monkeypatch):
    with pytest.raises(ImageError, match="there is no such folder"):
        find_images(folder / "none")
    with pytest.raises(ImageError, match="this is not a folder"):
        find_images(folder / "2.PNG")
    (folder / "empty").mkdir()
    assert list_images(folder / "empty") == []
    with pytest.raises(ImageError, match=r"empty: the folder has no images directly in it \(\.png.* or \.pgm\)"):
        find_images(folder / "empty")
    with pytest.raises(ImageError, match="in it or below it"):
        find_images(folder / "empty", recursive=True)
    monkeypatch.setattr("os.scandir", deny)
    with pytest.raises(ImageError, match="the folder may not be read; change its permissions"):
        find_images(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_folders_that_may_not_be_read(folder):
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(ImageError, match="sub: the folder may not be read"):
            find_images(folder, recursive=True)
    finally:
        (folder / "sub").chmod(0o700)


def deny(*_args, **_options):
    raise PermissionError(13, "Permission denied")
