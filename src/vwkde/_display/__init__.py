"""How results are shown: HTML, SVG, matplotlib, and the colours they share."""
