"""A thread that loads the service or watches it, over a connection of its own."""

import threading

from service import Failure
from wire import Connection, Lost, Refused


class Worker:
    """Makes one step after another, until the service is gone or `stop` is called.

    A subclass says what a step is. `outlived` says whether the service is to run on until `stop`: then a
    lost connection is a failure, and else the end.
    """

    outlived = False

    def __init__(self, name):
        self.name = name  # as failures call it
        self.failure = None
        self._ready, self._ending = threading.Event(), threading.Event()
        self._thread = None

    def connected(self, port):
        """What the steps are made over, as a context."""
        return Connection(port, timeout=60)

    def step(self, connection):
        raise NotImplementedError

    def start(self, port):
        self.failure = None
        self._ready.clear()
        self._ending.clear()
        self._thread = threading.Thread(target=self._work, args=[port], daemon=True)
        self._thread.start()

    def await_connected(self):
        """Waits until it makes steps, or has ended."""
        self._ready.wait()

    def stop(self):
        """Ends it after the step in work."""
        self._ending.set()
        self.join()

    def join(self):
        """Waits for its end."""
        if self._thread:
            self._thread.join()

    def check_failure(self):
        """Raises the failure that ended it, once it has ended."""
        if self.failure:
            raise self.failure

    def _work(self, port):
        try:
            with self.connected(port) as connection:
                self._ready.set()
                while not self._ending.is_set():
                    self.step(connection)
        except Lost as lost:
            if self.outlived:
                self.failure = Failure(f"{self.name}: {lost}")
        except (Failure, Refused) as failure:
            self.failure = Failure(f"{self.name}: {failure}")
        except Exception as error:  # a fault of this script
            self.failure = Failure(f"{self.name}: {error!r}")
        finally:
            self._ready.set()
