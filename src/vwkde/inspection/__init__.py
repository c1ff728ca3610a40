"""Surface inspection from good images only."""
