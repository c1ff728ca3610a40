"""What is measured of an image: features of patches, and marks."""
