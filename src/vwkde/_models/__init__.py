"""Models of the densities and of their ratio: derivatives, guides and the weights made of them."""
