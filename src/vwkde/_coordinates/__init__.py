"""The coordinates that estimates are formed in: whitened, normal scores, a few directions."""
