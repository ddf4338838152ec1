"""Lists: every order has the same posts, each once; a STABLE walk has no post twice, also under load."""

import threading

import feed_pb2 as feed
from service import Failure
from wire import Connection, Lost

ORDERS = (feed.TOP, feed.OLD, feed.HOT, feed.BEST, feed.CONTROVERSIAL, feed.RISING, feed.DISCUSSED)
WINDOWED = (feed.TOP, feed.CONTROVERSIAL, feed.DISCUSSED)
KEYS = {  # which must not rise from one post to the next
    feed.TOP: lambda post: post.score,
    feed.OLD: lambda post: -post.create_time_ms,
    feed.DISCUSSED: lambda post: post.comment_count,
}


def check(connection, name, is_stable):
    """All lists of a feed on which nothing changes have the posts of NEW, in their order; the STABLE ones
    only where there are any."""
    expected = {post.id for post in connection.posts(name)}
    # Soaks of one directory take less than a year, so the longest window has every post.
    lists = [(order, feed.WINDOW_UNSPECIFIED) for order in ORDERS]
    lists += [(order, feed.YEAR) for order in WINDOWED]
    for order, window in lists:
        for consistency in (feed.LIVE, feed.STABLE)[:1 + is_stable]:
            posts = list(connection.posts(
                name, order=order, window=window, consistency=consistency))
            said = f"{feed.Order.Name(order)} of {name}, {feed.Consistency.Name(consistency)}"
            check_posts(said, posts, expected, KEYS.get(order))


def check_posts(said, posts, expected, key):
    ids = [post.id for post in posts]
    if len(ids) != len(set(ids)):
        raise Failure(f"{said} lists a post twice")
    if set(ids) != expected:
        missing, more = sorted(expected - set(ids)), sorted(set(ids) - expected)
        raise Failure(f"{said} misses posts {missing[:5]} and has posts {more[:5]} that NEW has not")
    for post, following in zip(posts, posts[1:]):
        if key and key(following) > key(post):
            raise Failure(f"{said} lists post {following.id} behind post {post.id}")


class Reader:
    """Walks STABLE lists of a feed while it changes, until the service is gone."""

    def __init__(self, name, generator):
        self.name, self.random = name, generator
        self.walks = 0
        self.failure = None
        self.thread = None

    def start(self, port):
        self.failure = None
        self.thread = threading.Thread(target=self._work, args=[port])
        self.thread.start()

    def join(self):
        self.thread.join()
        if self.failure:
            raise self.failure

    def _work(self, port):
        try:
            with Connection(port) as connection:
                while True:
                    self._walk(connection, self.random.choice((feed.NEW, *ORDERS)))
        except Lost:
            pass
        except Exception as error:  # reported by the thread that joins
            self.failure = Failure(f"the reader of lists: {error}")

    def _walk(self, connection, order):
        """One walk, as far as it is of its snapshot."""
        seen = set()
        for page in connection.pages(feed=self.name, order=order, consistency=feed.STABLE):
            if page.consistency != feed.STABLE:
                break
            for post in page.posts:
                if post.id in seen:
                    raise Failure(f"{feed.Order.Name(order)} of {self.name} lists post {post.id} "
                                  "twice in one snapshot")
                seen.add(post.id)
        self.walks += 1
