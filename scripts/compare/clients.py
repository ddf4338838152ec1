"""Runs the clients: pump against anything, redis-benchmark against Redis."""

import json
import subprocess
import time

import machine
import servers


# The values of a measurement that add up with those of the next.
COUNTED = ("seconds", "votes", "pages", "client_seconds", "server_seconds", "server_user_seconds",
           "busy_seconds", "steal_seconds")


class Sample:
    """One measurement: the answers, the seconds, and the processor time of server and client."""

    def __init__(self, values):
        self.values = values
        self.seconds = values["seconds"]
        self.votes = values["votes"]
        self.pages = values.get("pages", 0)
        self.client_seconds = values["client_seconds"]

    @property
    def server_seconds(self):
        """Without the kernel's run times (CONFIG_SCHED_INFO) every cost would be 0."""
        if self.values["server_seconds"] <= 0:
            raise RuntimeError("the kernel says nothing of the server's processor time")
        return self.values["server_seconds"]

    @property
    def core_share(self):
        """How much of the time the server ran; far below 1 it was the client that had enough."""
        return self.server_seconds / self.seconds

    @property
    def votes_per_second(self):
        return self.votes / self.seconds

    @property
    def cost(self):
        """CPU-seconds of the server per million votes."""
        return self.server_seconds / self.votes * 1e6

    @property
    def client_cost(self):
        return self.client_seconds / self.votes * 1e6

    @property
    def steal(self):
        """The share of the machine that its host took."""
        return self.values["steal_seconds"] / self.seconds / len(machine.cores())

    @property
    def others(self):
        """The share of the machine that other processes took, as far as clock ticks can tell."""
        rest = self.values["busy_seconds"] - self.server_seconds - self.client_seconds
        return max(0, rest) / self.seconds / len(machine.cores())


def total(samples):
    """Measurements of one server as one: sums of what was counted, and no latencies."""
    return Sample({name: sum(sample.values[name] for sample in samples) for name in COUNTED
                   if name in samples[0].values})


def pump(tools, server, **flags):
    """One run of pump against a server; its flags by name, with _ for -."""
    command = [tools.floor + "/pump", "--port", server.port, "--server-pid", server.pid]
    if isinstance(server, servers.Redis):
        command += ["--protocol", "resp"]
    for name, value in flags.items():
        command += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True,
        preexec_fn=servers.pinned(client=True), timeout=600)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{result.stderr}{result.stdout}")
    return Sample(json.loads(result.stdout))


def redis_benchmark(redis, in_flight, posts, options, seconds=None, key="posts"):
    """Votes by redis-benchmark: its run is longer than the time between the two readings."""
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", redis.port, "-c", options.connections,
               "-P", in_flight, "-r", posts, "-n", 10**9, "-q",
               "ZINCRBY", key, "1", "p__rand_int__"]
    client = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=servers.pinned(client=True))

    def reading():
        votes = redis.votes()  # first: it waits for an answer, and the clocks belong together
        busy, steal = machine.machine_seconds()
        return {"votes": votes, "seconds": time.monotonic(),
                "server_seconds": machine.cpu_seconds(redis.pid),
                "client_seconds": machine.cpu_seconds(client.pid),
                "busy_seconds": busy, "steal_seconds": steal}

    try:
        time.sleep(options.warmup)
        before = reading()
        time.sleep(seconds or options.seconds)
        after = reading()
        if client.poll() is not None:
            raise RuntimeError(f"redis-benchmark ended early, with {client.returncode}")
    finally:
        client.kill()
        client.wait()
    if redis.call("ZCARD", key) != posts:
        raise RuntimeError("redis-benchmark voted on members that the set did not have")
    return Sample({name: after[name] - before[name] for name in before})
