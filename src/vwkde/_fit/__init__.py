"""How a ratio is fitted: kernel estimates, bandwidths, and the two forms that combine them, the paper's and the guided."""
