"""Lists: every order has the same posts, each once; a STABLE walk has no post twice, also under load."""

import random

import feed_pb2 as feed
from service import Failure
from worker import Worker

ORDERS = (feed.TOP, feed.OLD, feed.HOT, feed.BEST, feed.CONTROVERSIAL, feed.RISING, feed.DISCUSSED)
WINDOWED = (feed.TOP, feed.CONTROVERSIAL, feed.DISCUSSED)
KEYS = {  # which must not rise from one post to the next
    feed.TOP: lambda post: post.score,
    feed.OLD: lambda post: -post.create_time_ms,
    feed.DISCUSSED: lambda post: post.comment_count,
}


def check(connection, name):
    """All lists of a feed on which nothing changes have the posts of NEW, in their order."""
    expected = {post.id for post in connection.posts(name)}
    # Soaks of one directory take less than a year, so the longest window has every post.
    lists = [(order, feed.WINDOW_UNSPECIFIED) for order in ORDERS]
    lists += [(order, feed.YEAR) for order in WINDOWED]
    for order, window in lists:
        for consistency in (feed.LIVE, feed.STABLE):
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
        for page in connection.pages(feed=self.feed_name, order=order, consistency=feed.STABLE):
            if page.consistency != feed.STABLE:
                break
            for post in page.posts:
                if post.id in seen:
                    raise Failure(f"{feed.Order.Name(order)} of {self.feed_name} lists post "
                                  f"{post.id} twice in one snapshot")
                seen.add(post.id)
