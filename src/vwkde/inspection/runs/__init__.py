"""Runs over images: results are written image by image, and compared with labels if there are any."""
