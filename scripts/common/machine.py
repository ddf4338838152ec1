"""The kernel's figures on processes and on the machine."""

import os
import platform
import re


def cpu_seconds(pid):
    """On a CPU so far, all threads, by the kernel's nanoseconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass
    return total / 1e9


def children_seconds(pid):
    """On a CPU, of the children that it waited for, by clock ticks."""
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[13]) + int(words[14])) / os.sysconf("SC_CLK_TCK")


def written_bytes(pid):
    """The bytes that the kernel wrote to disks for a process and the children that it waited for."""
    with open(f"/proc/{pid}/io") as file:
        return int(re.search(r"^write_bytes: (\d+)", file.read(), re.MULTILINE).group(1))


def resident_bytes(pid, name="VmRSS"):
    """The bytes that a process has in memory; with VmHWM the most that it has had."""
    with open(f"/proc/{pid}/status") as file:
        found = re.search(name + r":\s+(\d+) kB", file.read())
    if found is None:
        raise ProcessLookupError(f"process {pid} is gone")
    return int(found.group(1)) << 10


def available_bytes():
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s+(\d+) kB", file.read()).group(1)) * 1024


def machine_seconds():
    """Busy and stolen seconds of all CPUs so far."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = ticks
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def cores():
    return sorted(os.sched_getaffinity(0))


def describe():
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = " ".join(line.split(":", 1)[1].split())
                break
    return {"processor": model, "cores": len(cores()), "kernel": platform.release()}
