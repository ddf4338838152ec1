"""What a call may raise in place of its answer."""

from . import feed_pb2 as feed


class FeedError(Exception):
    """A call that failed, or an answer that is not what it has to be."""


class Lost(FeedError):
    """The connection is gone: unless `not_executed`, the call may have been executed.

    A call with a `sequence` may be sent again with it, and is executed once, as long as the service remembers
    the channel. A `Client` says which one that is: the service's `instance_id` and its `channel_number`.
    """

    def __init__(self, message: str, *, not_executed: bool = False, sequence: int = 0) -> None:
        super().__init__(message)
        self.not_executed = not_executed
        self.sequence = sequence
        self.instance_id = self.channel_number = 0


class TimedOut(Lost):
    """No answer came in time."""


class Refused(FeedError):
    """The service's status in place of an answer."""

    def __init__(self, status: feed.Status) -> None:
        known = status.code in feed.Code.values()
        name = feed.Code.Name(status.code) if known else f"code {status.code}"
        super().__init__(f"{name} / {status.reason}: {status.message}")
        self.status = status

    @property
    def reason(self) -> str:
        """The cause, for programs."""
        return self.status.reason

    @property
    def is_temporary(self) -> bool:
        """Whether the call had no effect, and the service advises to send it again after a while."""
        return self.status.not_executed and self.status.retry_after_ms > 0
