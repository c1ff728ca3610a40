"""The paper's figures on synthetic densities, a module each."""
