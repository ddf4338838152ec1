"""Which service a client connects to, of those that the program and their cluster name."""

from collections.abc import Iterator, Sequence

from . import feed_pb2 as feed
from .connection import parse_address

# The reasons with which a service of a cluster leaves a call to another one.
FOR_OTHERS = frozenset({"NOT_LEADER", "NOT_CAUGHT_UP", "STALE_REPLICA"})
# How many members of a cluster are looked at, and the longest address: a name, a colon and a port.
MOST_MEMBERS, MOST_ADDRESS_CHARACTERS = 9, 259


class Route:
    """The services in the order in which they are tried. What a service says of its leader chooses among
    those that the program has named and the members of the cluster, and never adds one."""

    def __init__(self, addresses: Sequence[str]) -> None:
        if not addresses:
            raise ValueError("There is no address to connect to.")
        self._named, self._members = list(addresses), list[str]()
        self._current = self._named[0]
        # Where the next try begins: at the leader that was named, or at the next service.
        self._leader, self._moves_on = "", False
        self.is_cluster = False

    @property
    def addresses(self) -> list[str]:
        return self._named + self._members

    @property
    def has_others(self) -> bool:
        """Whether another service may take the place of one that is silent."""
        return self.is_cluster and len(self.addresses) > 1

    def tries(self) -> Iterator[str]:
        """Each service once; what one of them says of the leader decides which one is next."""
        tried: set[str] = set()
        while True:
            left = [address for address in self._behind_current() if address not in tried]
            if not left:
                return
            leader = next((address for address in left if is_same(address, self._leader)), None)
            if leader:
                self._current = leader
            elif self._moves_on or self._current in tried:
                self._current = left[0]
            self._leader, self._moves_on = "", False
            tried.add(self._current)
            yield self._current

    def turn(self, leader: str = "") -> None:
        """Lets the next try begin at the leader that a service has named, else at the next service."""
        if leader and not is_same(leader, self._current):
            self._leader = leader
        self._moves_on = True

    def learn(self, hello: feed.HelloResponse) -> None:
        """Takes over what a service says of its cluster."""
        if not hello.role:
            return
        self.is_cluster = True
        members: list[str] = []
        for member in hello.members[:MOST_MEMBERS]:
            if endpoint(member.address) and not any(
                    is_same(member.address, other) for other in self._named + members):
                members.append(member.address)
        if hello.members:
            self._members = members
            if self._current not in self.addresses:
                self._current = self._named[0]

    def _behind_current(self) -> list[str]:
        addresses = self.addresses
        place = addresses.index(self._current) + 1
        return addresses[place:] + addresses[:place]


def leader_of(hello: feed.HelloResponse) -> str:
    """The address of the leader, as far as a service knows it."""
    members = [member.address for member in hello.members if member.role == feed.NODE_LEADER]
    return hello.channel_status.leader or (members[0] if members else "")


def endpoint(address: str) -> tuple[str, int] | None:
    """The host and the port of an address; None if it is none."""
    if len(address) > MOST_ADDRESS_CHARACTERS or not address.isprintable() or " " in address:
        return None
    try:
        host, port = parse_address(address)
    except ValueError:
        return None
    return (host, port) if host and 0 < port < 1 << 16 else None


def is_same(one: str, other: str) -> bool:
    found = endpoint(one)
    return found is not None and found == endpoint(other)
