"""What sdk-docs/plain-loops.md lists, with its reason for each: operators of which pbc may say that they run as plain loops on one
thread (PB4065)."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "sdk-docs" / "plain-loops.md"


def listed(whose=""):
    """The operators in the rows that begin with them, or with those words in front."""
    rows = re.findall(rf"^\| {re.escape(whose)}(`.*?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def is_said(text):
    return any("PB4065" in line and "on one thread" in line for line in text.splitlines())


def operators(text):
    """Of StableHLO's, whose names stand in front of their lines; others have the name of what they make."""
    return {m[1] for line in text.splitlines() for m in [re.search(r"(\w+):\d+: runs as plain loops on one thread", line)] if m}
