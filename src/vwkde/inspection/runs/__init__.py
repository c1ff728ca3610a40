"""Runs over images: what is found is written image by image, and compared with labels where there are any."""
