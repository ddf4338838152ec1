"""A healthy client beside an attack: votes, pages, sign-ins and watches over TLS, each at its rate, whatever is
answered."""

import asyncio
import time

from feedclient import feed, framed, tls_context
from judge import Call

ADDRESS = "127.0.0.1"
# The host of its people.
SIGN_IN_ADDRESS = "127.0.0.101"
TICK_SECONDS = 0.01
# Every so many ticks one of a kind.
EVERY = {"votes": 1, "pages": 2, "signins": 200, "watches": 100}
LAST_SECONDS = 3  # in which it awaits answers to its last calls


class Client:
    """A connection with many calls at once; what is answered is put into the list of calls."""

    def __init__(self, calls):
        self.calls, self.waiting, self.last_id = calls, {}, 0

    async def connect(self, port, context, address=ADDRESS):
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, local_addr=(address, 0))
        return self

    def write(self, **request):
        self.last_id += 1
        self.writer.write(framed(self.last_id, **request))
        return self.last_id

    def send(self, kind, sent=None, **request):
        self.waiting[self.write(**request)] = len(self.calls)
        self.calls.append(Call(kind, sent or time.monotonic(), None, "", ""))

    async def receive(self):
        length = int.from_bytes(await self.reader.readexactly(4), "big")
        answer = feed.ServerFrame.FromString(await self.reader.readexactly(length))
        place = self.waiting.pop(answer.id, None)
        if place is None:
            return
        call = self.calls[place]
        self.calls[place] = call._replace(
            took=time.monotonic() - call.sent, reason=answer.status.reason, message=answer.status.message)
        if call.kind == "watches" and not answer.status.reason:
            self.write(cancel=feed.CancelRequest(id=answer.id))

    async def receive_all(self):
        try:
            while True:
                await self.receive()
        except (OSError, asyncio.IncompleteReadError):
            pass  # its calls have no answer


async def sign_in(calls, port, context, account):
    """A sign-in on a connection of its own, whose handshake counts."""
    place, client = len(calls), Client([])
    calls.append(Call("signins", time.monotonic(), None, "", ""))
    try:
        await client.connect(port, context, SIGN_IN_ADDRESS)
        client.send("signins", calls[place].sent,
                    sign_in=feed.SignInRequest(email=account[0], password=account[1]))
        await client.receive()
        calls[place] = client.calls[0]
        client.writer.close()
    except (OSError, asyncio.IncompleteReadError) as error:
        calls[place] = calls[place]._replace(took=time.monotonic() - calls[place].sent, reason="LOST",
                                             message=repr(error))


async def live(port, certificate, posts, account, stopping, calls):
    context = tls_context(certificate)
    # One connection each: a page does not wait behind a vote.
    clients = {kind: await Client(calls).connect(port, context) for kind in EVERY if kind != "signins"}
    tasks = [asyncio.create_task(client.receive_all()) for client in clients.values()]
    page = feed.ListPostsRequest(feed="posts", order=feed.TOP, page_size=20)
    watch = feed.WatchPostsRequest(feed="posts", order=feed.TOP, top_count=20)
    began, number = time.monotonic(), 0
    while not stopping.is_set():
        number += 1
        due = [kind for kind, every in EVERY.items() if number % every == 0]
        if "votes" in due:
            vote = feed.CastVoteRequest(post_id=posts[number % len(posts)], direction=feed.UP)
            clients["votes"].send("votes", cast_vote=vote)
        if "pages" in due:
            clients["pages"].send("pages", list_posts=page)
        if "signins" in due:
            tasks.append(asyncio.create_task(sign_in(calls, port, context, account)))
        if "watches" in due:
            clients["watches"].send("watches", watch_posts=watch)
        await asyncio.sleep(max(0, began + number * TICK_SECONDS - time.monotonic()))
    await asyncio.wait(tasks, timeout=LAST_SECONDS)
    for task in tasks:
        task.cancel()


def run(port, certificate, posts, account, stopping):
    """Its calls."""
    calls = []
    asyncio.run(live(port, certificate, posts, account, stopping, calls))
    return calls
