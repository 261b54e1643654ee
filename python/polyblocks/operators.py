"""Where the lines of a text that TensorFlow printed come from."""

import re

from .places import Places


class Operators(Places):
    """A line's line of Python, or the name of the operator of TensorFlow that it was made of."""

    def __init__(self, text):
        super().__init__(lambda: text)

    def read(self):
        super().read()
        self.lines = self.text().splitlines()  # the compiler reads the aliases' lines too

    def of_line(self, line, depth):
        place = super().of_line(line, depth)
        if place and "/tensorflow/" not in place and "/keras/" not in place:
            return place
        names = re.findall(r'"([^"]+)"', self.spelled(self.lines[line - 1].rpartition("loc(")[2], 0)) if 0 < line <= len(self.lines) else []
        return f"operator '{names[0]}'" if names else None

    def spelled(self, text, depth):
        """With what the locations' names stand for."""
        if depth == 8:
            return text
        return re.sub(r"#loc\d+", lambda m: self.spelled(self.aliases.get(m.group(0), ""), depth + 1), text)
