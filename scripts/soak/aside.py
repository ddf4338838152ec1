"""What goes on beside a load: in a thread over a connection of its own, or in a process; and memory."""

import multiprocessing
import os
import resource
import threading

import machine
from feedclient import Connection, Lost, Refused
from process import Failure

SAMPLE_SECONDS = 0.02


class Worker:
    """Makes one step after another in a thread, until the service is gone or `stop` is called.

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
        return Connection(f"127.0.0.1:{port}", timeout=60)

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


class Aside:
    """A function in a process of its own, so that it does not wait for others' interpreters. It gets an event
    that is set by `stop`, which returns its result."""

    def __init__(self, function, *arguments, niceness=0):
        self.stopping = multiprocessing.Event()
        self.pipe, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(
            target=self._run, args=(theirs, function, arguments, niceness), daemon=True)
        self.process.start()
        theirs.close()

    def _run(self, pipe, function, arguments, niceness):
        os.nice(niceness)
        pipe.send(function(*arguments, self.stopping))

    def stop(self):
        self.stopping.set()
        try:
            return self.pipe.recv()
        except EOFError:
            raise Failure("a process beside the service has failed") from None
        finally:
            self.process.join()


def kernel_bytes():
    """The bytes that all TCP sockets of the machine hold in the kernel."""
    with open("/proc/net/sockstat") as file:
        for line in file:
            if line.startswith("TCP:"):
                return int(line.split()[-1]) * resource.getpagesize()
    return 0


class Sampler:
    """Takes a sample in each interval, in a thread, until the `with` block ends."""

    def __init__(self, seconds):
        self._seconds, self._stopping = seconds, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def sample(self):
        raise NotImplementedError

    def _run(self):
        try:
            while not self._stopping.wait(self._seconds):
                self.sample()
        except OSError:
            pass  # the service has ended, which those who call it find out

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join()


class MemoryWatch(Sampler):
    """The highest memory of a service, and of the kernel beside it."""

    def __init__(self, pid):
        super().__init__(SAMPLE_SECONDS)
        self.pid = pid
        self.before = self.highest = machine.resident_bytes(pid)
        self.kernel_before = self.kernel_highest = kernel_bytes()

    def sample(self):
        self.highest = max(self.highest, machine.resident_bytes(self.pid))
        self.kernel_highest = max(self.kernel_highest, kernel_bytes())
