"""The kinds of errors, sorted by whose fault they are."""

from __future__ import annotations


class SemelError(Exception):
    """Any error that Semel raises. `code` is stable; `happened` and `remedy` are for people."""

    def __init__(self, code: str, happened: str, remedy: str) -> None:
        """Keep the three parts; the message is all of them."""
        super().__init__(f"{code}: {happened}\n  {remedy}")
        self.code = code
        self.happened = happened
        self.remedy = remedy


class ConfigError(SemelError):
    """The application is set up in a way that cannot be safe; it refuses to start."""


class UsageError(SemelError):
    """A call that cannot mean anything; nothing was written."""


class StoreError(SemelError):
    """The database could not do it. `retryable` says whether the same call may simply be made again.

    `operation` is the operation id of a write whose outcome could not be learned in time; it is None otherwise. `reason` is
    what the driver said, in short.
    """

    retryable = False

    def __init__(
        self, code: str, happened: str, remedy: str, *, operation: str | None = None, reason: str = ""
    ) -> None:
        """Keep the operation id and the driver's words beside the three parts."""
        super().__init__(code, happened, remedy)
        self.operation = operation
        self.reason = reason


class ConflictedError(StoreError):
    """Nothing was written, and the same work may be run again from its start."""

    retryable = True


class LockHeldError(ConflictedError):
    """Somebody held the row longer than the wait was allowed to be; nothing was written."""


class PoolEmptyError(ConflictedError):
    """Every connection stayed lent longer than one may be waited for; nothing was written."""


class ClaimLostError(StoreError):
    """The claim is somebody else's by now; what was written under it was rolled back."""


class ClaimLeft(BaseException):
    """Leaves an action whose claim is lost. Nothing the action could do would count any more."""


class OutcomeUnknownError(StoreError):
    """The answer to a write or a COMMIT never came: it may have happened, or may still happen."""
