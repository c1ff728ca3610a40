"""Filters of images: pyramids, bands, interpolation."""
