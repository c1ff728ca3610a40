"""How a ratio is fitted: kernel estimates, bandwidths, and the paper's and the guided form."""
