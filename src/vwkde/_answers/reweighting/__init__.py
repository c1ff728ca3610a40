"""Weights with which one sample represents another: how they are shrunk, balanced, described and checked."""
