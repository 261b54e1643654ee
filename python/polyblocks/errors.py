"""What goes wrong, as exceptions that carry what the compiler and the runtime say."""


class PolyBlocksError(Exception):
    """All errors of this package."""


class PolyBlocksWarning(UserWarning):
    """What the compiler warns of."""


class OptionError(PolyBlocksError, ValueError):
    """An option that is unknown, or a value that it does not take."""


class ArgumentError(PolyBlocksError, TypeError):
    """An argument that does not fit an engine or a front end: its name, what it is and what it should be."""


class EngineError(PolyBlocksError, RuntimeError):
    """What the runtime says; `code` is the number of its diagnostic."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Diagnostic:
    """An error or a warning of the compiler: `code` (2019 for PB2019), `file`, `line`, `column` (0: none), `text`, `hint`.
    `source` is the line of Python that it is about, "FILE:LINE", where that is known."""

    def __init__(self, is_error, code, file, line, column, text, hint, whole):
        self.is_error, self.code, self.file, self.line, self.column = is_error, code, file, line, column
        self.text, self.hint, self.whole, self.source = text, hint, whole, None

    def __str__(self):
        if not self.source:
            return self.whole
        kind = "error" if self.is_error else "warning"
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.source}: {kind}: {self.text} [PB{self.code:04d}]{hint}"

    __repr__ = __str__


class CompileError(PolyBlocksError):
    """A model that cannot be compiled; `diagnostics` says why, first things first."""

    def __init__(self, diagnostics):
        super().__init__("\n".join(str(d) for d in diagnostics if d.is_error))
        self.diagnostics = diagnostics

    @property
    def code(self):
        return next((d.code for d in self.diagnostics if d.is_error), 0)


class NotSupported(CompileError):
    """What a front end cannot say to the compiler: an operator, by its name and its line of Python."""

    def __init__(self, text, source=None, hint=""):
        diagnostic = Diagnostic(True, 2111, "", 0, 0, text, hint, f"error: {text} [PB2111]" + (f"\n  hint: {hint}" if hint else ""))
        diagnostic.source = source
        super().__init__([diagnostic])
