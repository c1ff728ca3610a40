"""The paper's tables and figure on surfaces."""
