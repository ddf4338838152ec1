"""The calls of the service by name. `Client` and `Connection` have them."""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict, Unpack

from . import feed_pb2 as feed
from .errors import FeedError

# The calls that change something and may have a sequence.
NUMBERED = frozenset({
    "create_post", "import_posts", "update_post", "delete_post", "cast_vote", "batch_cast_votes",
    "mark_posts", "create_feed"})
# The calls that change nothing: executed twice they do no harm.
READS = frozenset({
    "ping", "get_session", "list_sessions", "get_post", "batch_get_posts", "list_posts", "sync_posts", "get_post_rank",
    "list_feeds", "get_server_stats", "cluster_status"})


class Options(TypedDict, total=False):
    """What any call may have beside its request."""

    timeout: float  # the seconds until its answer; also how long it may wait for its execution
    sequence: int  # the number of a change on its channel
    acting: int  # the user for whom a service acts
    min_revision: int  # the answer is of this revision or a later one


class Calls:
    """The calls, each over `call`."""

    def call(self, *, timeout: float | None = None, sequence: int = 0, acting: int = 0, min_revision: int = 0,
             **request: Any) -> feed.ServerFrame:
        """The answer to any request, as call(get_post=feed.GetPostRequest(id=7)), with Options beside it."""
        raise NotImplementedError

    def ask(self, kind: str, options: Options, **request: Any) -> feed.ServerFrame:
        """The answer to a request, which must be of this kind."""
        frame = self.call(**options, **request)
        if frame.WhichOneof("body") != kind:
            raise FeedError(f"{next(iter(request))} was answered with {frame}")
        return frame

    # ---- Posts

    def create_post(self, post: feed.Post, feed_name: str = "posts", **options: Unpack[Options]) -> feed.Post:
        request = feed.CreatePostRequest(feed=feed_name, post=post)
        return self.ask("post", options, create_post=request).post

    def import_posts(self, posts: Iterable[feed.Post], feed_name: str = "posts",
                     **options: Unpack[Options]) -> list[int]:
        """Brings up to 256 posts with their times and counts, all or none; their ids."""
        request = feed.ImportPostsRequest(feed=feed_name, posts=posts)
        return list(self.ask("import_posts", options, import_posts=request).import_posts.ids)

    def get_post(self, post_id: int, **options: Unpack[Options]) -> feed.Post:
        return self.ask("post", options, get_post=feed.GetPostRequest(id=post_id)).post

    def get_posts(self, ids: Iterable[int], **options: Unpack[Options]) -> feed.BatchGetPostsResponse:
        request = feed.BatchGetPostsRequest(ids=ids)
        return self.ask("batch_get_posts", options, batch_get_posts=request).batch_get_posts

    def update_post(self, post: feed.Post, fields: Iterable[feed.PostField],
                    **options: Unpack[Options]) -> feed.Post:
        """Gives a post these fields, as feed.TITLE, of the post with its id."""
        request = feed.UpdatePostRequest(post=post, update_mask=fields)
        return self.ask("post", options, update_post=request).post

    def delete_post(self, post_id: int, **options: Unpack[Options]) -> None:
        self.ask("empty", options, delete_post=feed.DeletePostRequest(id=post_id))

    # ---- Votes and marks

    def vote(self, post_id: int, direction: feed.VoteDirection = feed.UP,
             **options: Unpack[Options]) -> feed.CastVoteResponse:
        request = feed.CastVoteRequest(post_id=post_id, direction=direction)
        return self.ask("cast_vote", options, cast_vote=request).cast_vote

    def votes(self, votes: Iterable[feed.CastVoteRequest],
              **options: Unpack[Options]) -> list[feed.CastVoteResult]:
        """Casts up to 256 votes; the result of each."""
        request = feed.BatchCastVotesRequest(votes=votes)
        return list(self.ask("batch_cast_votes", options, batch_cast_votes=request).batch_cast_votes.results)

    def mark(self, request: feed.MarkPostsRequest, **options: Unpack[Options]) -> int:
        """Marks posts; how many are left unread."""
        return self.ask("mark_posts", options, mark_posts=request).mark_posts.unread_count

    # ---- Lists

    def list_posts(self, request: feed.ListPostsRequest,
                   **options: Unpack[Options]) -> feed.ListPostsResponse:
        return self.ask("list_posts", options, list_posts=request).list_posts

    def pages(self, request: feed.ListPostsRequest,
              **options: Unpack[Options]) -> Iterator[feed.ListPostsResponse]:
        """Every page of a list, from the one that the request names."""
        next_request = feed.ListPostsRequest()
        next_request.CopyFrom(request)
        while True:
            page = self.list_posts(next_request, **options)
            yield page
            if not page.next_page_token:
                return
            next_request.ClearField("start")
            next_request.page_token = page.next_page_token

    def posts(self, request: feed.ListPostsRequest, **options: Unpack[Options]) -> Iterator[feed.Post]:
        """Every post of a list, page by page. If it is not STABLE, posts that move may come twice or not."""
        for page in self.pages(request, **options):
            yield from page.posts

    def rank(self, request: feed.GetPostRankRequest, **options: Unpack[Options]) -> feed.PostRank:
        return self.ask("post_rank", options, get_post_rank=request).post_rank

    def sync_posts(self, request: feed.SyncPostsRequest,
                   **options: Unpack[Options]) -> feed.SyncPostsResponse:
        return self.ask("sync_posts", options, sync_posts=request).sync_posts

    # ---- Feeds and the service

    def feeds(self, **options: Unpack[Options]) -> list[feed.Feed]:
        return list(self.ask("list_feeds", options, list_feeds=feed.ListFeedsRequest()).list_feeds.feeds)

    def create_feed(self, created: feed.Feed, **options: Unpack[Options]) -> feed.Feed:
        return self.ask("feed", options, create_feed=feed.CreateFeedRequest(feed=created)).feed

    def stats(self, **options: Unpack[Options]) -> feed.ServerStats:
        return self.ask("server_stats", options, get_server_stats=feed.GetServerStatsRequest()).server_stats

    def cluster_status(self, record: int = 0, **options: Unpack[Options]) -> feed.ClusterStatus:
        """What the service knows of its cluster, and the chain of a record of it, or of its newest one."""
        request = feed.ClusterStatusRequest(record=record)
        return self.ask("cluster_status", options, cluster_status=request).cluster_status

    def ping(self, payload: bytes = b"", **options: Unpack[Options]) -> feed.PingResponse:
        return self.ask("ping", options, ping=feed.PingRequest(payload=payload)).ping

    # ---- People

    def sign_up(self, email: str, password: str, display_name: str = "",
                **options: Unpack[Options]) -> feed.UserSession:
        request = feed.SignUpRequest(email=email, password=password, display_name=display_name)
        return self.ask("session", options, sign_up=request).session

    def sign_in(self, email: str, password: str, create_if_missing: bool = False,
                **options: Unpack[Options]) -> feed.UserSession:
        request = feed.SignInRequest(email=email, password=password, create_if_missing=create_if_missing)
        return self.ask("session", options, sign_in=request).session

    def session(self, **options: Unpack[Options]) -> feed.UserSession:
        return self.ask("session", options, get_session=feed.GetSessionRequest()).session

    def sign_out(self, everywhere: bool = False, **options: Unpack[Options]) -> None:
        self.ask("empty", options, sign_out=feed.SignOutRequest(everywhere=everywhere))

    def change_password(self, password: str, new_password: str,
                        **options: Unpack[Options]) -> feed.UserSession:
        """All sessions of the user end, and a new one begins."""
        request = feed.ChangePasswordRequest(password=password, new_password=new_password)
        return self.ask("session", options, change_password=request).session

    def change_email(self, email: str, password: str, **options: Unpack[Options]) -> None:
        self.ask("empty", options, change_email=feed.ChangeEmailRequest(email=email, password=password))

    def delete_account(self, password: str, keep_posts: bool = False,
                       **options: Unpack[Options]) -> None:
        """The posts go, or stay without an author; there is no way back."""
        request = feed.DeleteAccountRequest(password=password, keep_posts=keep_posts)
        self.ask("empty", options, delete_account=request)

    def sessions(self, **options: Unpack[Options]) -> list[feed.SessionInfo]:
        answer = self.ask("list_sessions", options, list_sessions=feed.ListSessionsRequest())
        return list(answer.list_sessions.sessions)

    def end_session(self, id: int, **options: Unpack[Options]) -> None:
        self.ask("empty", options, end_session=feed.EndSessionRequest(id=id))

    def reset_password(self, token: bytes, new_password: str,
                       **options: Unpack[Options]) -> feed.UserSession:
        request = feed.ResetPasswordRequest(token=token, new_password=new_password)
        return self.ask("session", options, reset_password=request).session

    def change_user(self, request: feed.ChangeUserRequest, **options: Unpack[Options]) -> None:
        """Ends the sessions of a user, suspends it or takes that back, or deletes it: for services."""
        self.ask("empty", options, change_user=request)

    def make_password_reset(self, request: feed.MakePasswordResetRequest,
                            **options: Unpack[Options]) -> feed.PasswordReset:
        """A token for a user who has forgotten the password: for services."""
        return self.ask("password_reset", options, make_password_reset=request).password_reset
