"""The memory of a service, and of the kernel beside it, while something is done to it."""

import resource
import threading

from service import Failure

SAMPLE_SECONDS = 0.02


def resident(pid, name="VmRSS"):
    """The bytes that a process has in memory; with VmHWM the most that it has had."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1]) << 10
    raise Failure(f"process {pid} is gone")


def kernel():
    """The bytes that all TCP sockets of the machine hold in the kernel."""
    with open("/proc/net/sockstat") as file:
        for line in file:
            if line.startswith("TCP:"):
                return int(line.split()[-1]) * resource.getpagesize()
    return 0


class MemoryWatch:
    """Takes the highest of both in a thread of its own, until the `with` block ends."""

    def __init__(self, pid):
        self.pid = pid
        self.before = self.highest = resident(pid)
        self.kernel_before = self.kernel_highest = kernel()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            while not self.stopping.wait(SAMPLE_SECONDS):
                self.highest = max(self.highest, resident(self.pid))
                self.kernel_highest = max(self.kernel_highest, kernel())
        except (OSError, Failure):
            pass  # the service has ended, which those who call it find out

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
