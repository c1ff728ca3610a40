"""Models of the densities and of their ratio: derivatives, guides, and weights fitted with them."""
