"""Lists: every order has the same posts, each once; a STABLE walk has no post twice, also under load."""

import math
import random
import time

from aside import Worker
from feedclient import feed
from process import Failure

ORDERS = (feed.TOP, feed.OLD, feed.HOT, feed.BEST, feed.CONTROVERSIAL, feed.RISING, feed.DISCUSSED)
WINDOWED = (feed.TOP, feed.CONTROVERSIAL, feed.DISCUSSED)
DAY_SECONDS = 86_400
WINDOWS = {feed.HOUR: 3600, feed.DAY: DAY_SECONDS, feed.WEEK: 7 * DAY_SECONDS,
           feed.MONTH: 30 * DAY_SECONDS, feed.YEAR: 365 * DAY_SECONDS}
# Posts so close to the edge of a window may be in it or not: clocks are read at other moments.
EDGE_SECONDS = 5
PAGE_SIZE = 100
KEYS = {  # which must not rise from one post to the next
    feed.TOP: lambda post: post.score,
    feed.OLD: lambda post: -post.create_time_ms,
    feed.DISCUSSED: lambda post: post.comment_count,
}


def check(connection, name):
    """All lists of a feed on which nothing changes have the posts of NEW that are in their window, each once
    and in their order."""
    def read(order, **fields):
        return list(connection.posts(feed.ListPostsRequest(
            feed=name, order=order, page_size=PAGE_SIZE, **fields)))

    newest = read(feed.NEW)
    lists = [(order, feed.WINDOW_UNSPECIFIED) for order in ORDERS]
    lists += [(order, window) for order in WINDOWED for window in WINDOWS]
    for order, window in lists:
        for consistency in (feed.LIVE, feed.STABLE):
            began = time.time()
            posts = read(order, window=window, consistency=consistency)
            said = f"{feed.Order.Name(order)} of {name}"
            said += f" in {feed.Window.Name(window)}" * (window in WINDOWS)
            said += f", {feed.Consistency.Name(consistency)}"
            check_order(said, posts, KEYS.get(order))
            check_content(said, posts, newest, WINDOWS.get(window, math.inf), began)


def check_order(said, posts, key):
    if len(posts) != len({post.id for post in posts}):
        raise Failure(f"{said} lists a post twice")
    for post, following in zip(posts, posts[1:]):
        if key and key(following) > key(post):
            raise Failure(f"{said} lists post {following.id} behind post {post.id}")


def check_content(said, posts, newest, window_seconds, began):
    """The posts of a list that was read from `began` to now are those of NEW in its window."""
    def since(moment, seconds):
        return {post.id for post in newest if moment - post.create_time_ms / 1000 <= seconds}

    ids = {post.id for post in posts}
    missing = since(time.time(), window_seconds - EDGE_SECONDS) - ids
    more = ids - since(began, window_seconds + EDGE_SECONDS)
    if missing or more:
        raise Failure(f"{said} misses posts {sorted(missing)[:5]} and has posts {sorted(more)[:5]} "
                      "that do not belong there")


class Reader(Worker):
    """Walks STABLE lists of a feed while it changes."""

    def __init__(self, feed_name, seed):
        super().__init__("the reader of lists")
        self.feed_name = feed_name
        self.random = random.Random(f"{seed} reader")

    def step(self, connection):
        """One walk, as far as it is of its snapshot."""
        order = self.random.choice((feed.NEW, *ORDERS))
        seen = set()
        for page in connection.pages(feed.ListPostsRequest(
                feed=self.feed_name, order=order, page_size=PAGE_SIZE, consistency=feed.STABLE)):
            if page.consistency != feed.STABLE:
                break
            for post in page.posts:
                if post.id in seen:
                    raise Failure(f"{feed.Order.Name(order)} of {self.feed_name} lists post "
                                  f"{post.id} twice in one snapshot")
                seen.add(post.id)
