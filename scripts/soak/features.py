"""What a service serves of the calls that came last, so that one without them can be tested too."""

import feed_pb2 as feed
import lists
from wire import Connection, Refused

ALL = ("users", "marks", "orders", "stable", "accounts")
USERS = (1 << 63, 1 << 63 | 1)  # of a service


def found(port, name):
    """The features of the service, tried on the feed of that name, which is of ballots."""
    with Connection(port) as connection:
        capabilities = connection.hello().capabilities
        served = {feature for feature, capability in
                  (("stable", feed.STABLE_PAGES), ("accounts", feed.ACCOUNTS))
                  if capability in capabilities}
        post = connection.call_until_taken(create_post=feed.CreatePostRequest(
            feed=name, post=feed.Post(title="features"))).post.id
        for feature, is_served in (("users", users), ("marks", marks), ("orders", orders)):
            try:
                if is_served(connection, name, post):
                    served.add(feature)
            except Refused as refused:
                if refused.is_temporary:
                    raise
        if "users" not in served:
            served.discard("marks")  # users make them
        connection.call_until_taken(delete_post=feed.DeletePostRequest(id=post))
    return served


def users(connection, _, post):
    vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
    for user in USERS:
        connection.call_until_taken(acting=user, cast_vote=vote)
    shown = connection.call(get_post=feed.GetPostRequest(id=post)).post
    return shown.upvote_count == len(USERS)


def marks(connection, _, post):
    connection.call_until_taken(acting=USERS[0], mark_posts=feed.MarkPostsRequest(
        mark=feed.READ, post_ids=[post]))
    return connection.call(acting=USERS[0], get_post=feed.GetPostRequest(id=post)).post.viewer.read


def orders(connection, name, _):
    for order in lists.ORDERS:
        list(connection.posts(name, order=order))
    return True
