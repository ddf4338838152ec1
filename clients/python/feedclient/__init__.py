"""A client of the feed service: `Client` connects again and sends again, `Connection` does neither."""

from . import feed_pb2 as feed
from .calls import Calls, Options
from .client import Client
from .connection import Connection, Watch, read_key, tls_context
from .errors import FeedError, Lost, Refused, TimedOut
from .frames import FrameReader, framed

__all__ = [
    "Calls", "Client", "Connection", "FeedError", "FrameReader", "Lost", "Options", "Refused", "TimedOut",
    "Watch", "feed", "framed", "read_key", "tls_context",
]
