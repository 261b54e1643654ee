"""Core ATen in StableHLO: a table of overloads, an operator a row."""
