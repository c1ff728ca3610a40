"""The coordinates in which estimates are computed: whitened, normal scores, a few directions."""
