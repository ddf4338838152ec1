from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ABORTED: Code
ACCOUNTS: Capability
ALREADY_EXISTS: Code
BALLOT: VoteMode
BEST: Order
CANCELLED: Code
CAPABILITY_UNSPECIFIED: Capability
CLEAR: VoteDirection
COMMENT_COUNT: PostField
CONSISTENCY_UNSPECIFIED: Consistency
CONTROVERSIAL: Order
DATA_LOSS: Code
DAY: Window
DEADLINE_EXCEEDED: Code
DELETE: UserChange
DELETE_KEEPING_POSTS: UserChange
DESCRIPTOR: _descriptor.FileDescriptor
DEVICES: Voters
DISCUSSED: Order
DISMISSED: Mark
DOWN: VoteDirection
DRAINING: ServingStatus
END_SESSIONS: UserChange
EXACTLY_ONCE: Capability
FAILED_PRECONDITION: Code
HOT: Order
HOUR: Window
IMAGE_URL: PostField
INTERNAL: Code
INVALID_ARGUMENT: Code
LINK_URL: PostField
LIVE: Consistency
MARK_UNSPECIFIED: Mark
MONTH: Window
NEW: Order
NODE_FOLLOWER: NodeRole
NODE_LEADER: NodeRole
NODE_ROLE_UNSPECIFIED: NodeRole
NOT_FOUND: Code
OK: Code
OLD: Order
ORDER_UNSPECIFIED: Order
OUT_OF_RANGE: Code
PERMISSION_DENIED: Code
POST_FIELD_UNSPECIFIED: PostField
READ: Mark
RESOURCE_EXHAUSTED: Code
RESTORE: UserChange
RESTORED: Mark
RISING: Order
SERVING: ServingStatus
SERVING_STATUS_UNSPECIFIED: ServingStatus
STABLE: Consistency
STABLE_PAGES: Capability
SUSPEND: UserChange
SYNC: Capability
TALLY: VoteMode
TEXT: PostField
THUMBNAIL_URL: PostField
TITLE: PostField
TOP: Order
UNAUTHENTICATED: Code
UNAVAILABLE: Code
UNIMPLEMENTED: Code
UNKNOWN: Code
UNREAD: Mark
UP: VoteDirection
USERS: Voters
USER_CHANGE_UNSPECIFIED: UserChange
VOTERS_UNSPECIFIED: Voters
VOTE_DIRECTION_UNSPECIFIED: VoteDirection
VOTE_MODE_UNSPECIFIED: VoteMode
WATCH: Capability
WEEK: Window
WINDOW_UNSPECIFIED: Window
YEAR: Window

class BackupRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class BackupResponse(_message.Message):
    __slots__ = ["name", "revision"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    name: str
    revision: int
    def __init__(self, name: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class BackupStats(_message.Message):
    __slots__ = ["copied_bytes", "failures", "last_bytes", "last_duration_ms", "last_error", "last_error_time_ms", "last_name", "last_time_ms", "next_time_ms", "running", "schedule_interval_ms", "total_bytes"]
    COPIED_BYTES_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    LAST_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAST_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_NAME_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    NEXT_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    copied_bytes: int
    failures: int
    last_bytes: int
    last_duration_ms: int
    last_error: str
    last_error_time_ms: int
    last_name: str
    last_time_ms: int
    next_time_ms: int
    running: bool
    schedule_interval_ms: int
    total_bytes: int
    def __init__(self, running: bool = ..., copied_bytes: _Optional[int] = ..., total_bytes: _Optional[int] = ..., last_name: _Optional[str] = ..., last_time_ms: _Optional[int] = ..., last_bytes: _Optional[int] = ..., last_duration_ms: _Optional[int] = ..., last_error: _Optional[str] = ..., last_error_time_ms: _Optional[int] = ..., failures: _Optional[int] = ..., schedule_interval_ms: _Optional[int] = ..., next_time_ms: _Optional[int] = ...) -> None: ...

class BatchCastVotesRequest(_message.Message):
    __slots__ = ["votes"]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    votes: _containers.RepeatedCompositeFieldContainer[CastVoteRequest]
    def __init__(self, votes: _Optional[_Iterable[_Union[CastVoteRequest, _Mapping]]] = ...) -> None: ...

class BatchCastVotesResponse(_message.Message):
    __slots__ = ["results"]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[CastVoteResult]
    def __init__(self, results: _Optional[_Iterable[_Union[CastVoteResult, _Mapping]]] = ...) -> None: ...

class BatchGetPostsRequest(_message.Message):
    __slots__ = ["ids"]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class BatchGetPostsResponse(_message.Message):
    __slots__ = ["missing_ids", "posts"]
    MISSING_IDS_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    missing_ids: _containers.RepeatedScalarFieldContainer[int]
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    def __init__(self, posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ..., missing_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class CallTimes(_message.Message):
    __slots__ = ["executed_ns", "received_ns", "released_ns"]
    EXECUTED_NS_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_NS_FIELD_NUMBER: _ClassVar[int]
    RELEASED_NS_FIELD_NUMBER: _ClassVar[int]
    executed_ns: int
    received_ns: int
    released_ns: int
    def __init__(self, received_ns: _Optional[int] = ..., executed_ns: _Optional[int] = ..., released_ns: _Optional[int] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class CastVoteRequest(_message.Message):
    __slots__ = ["direction", "post_id"]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    POST_ID_FIELD_NUMBER: _ClassVar[int]
    direction: VoteDirection
    post_id: int
    def __init__(self, post_id: _Optional[int] = ..., direction: _Optional[_Union[VoteDirection, str]] = ...) -> None: ...

class CastVoteResponse(_message.Message):
    __slots__ = ["downvote_count", "post_id", "score", "upvote_count", "vote"]
    DOWNVOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    POST_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    UPVOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    downvote_count: int
    post_id: int
    score: int
    upvote_count: int
    vote: VoteDirection
    def __init__(self, post_id: _Optional[int] = ..., score: _Optional[int] = ..., upvote_count: _Optional[int] = ..., downvote_count: _Optional[int] = ..., vote: _Optional[_Union[VoteDirection, str]] = ...) -> None: ...

class CastVoteResult(_message.Message):
    __slots__ = ["status", "vote"]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    status: Status
    vote: CastVoteResponse
    def __init__(self, status: _Optional[_Union[Status, _Mapping]] = ..., vote: _Optional[_Union[CastVoteResponse, _Mapping]] = ...) -> None: ...

class ChangeEmailRequest(_message.Message):
    __slots__ = ["email", "password"]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    email: str
    password: str
    def __init__(self, password: _Optional[str] = ..., email: _Optional[str] = ...) -> None: ...

class ChangeMembersRequest(_message.Message):
    __slots__ = ["add_name", "add_url", "remove_node"]
    ADD_NAME_FIELD_NUMBER: _ClassVar[int]
    ADD_URL_FIELD_NUMBER: _ClassVar[int]
    REMOVE_NODE_FIELD_NUMBER: _ClassVar[int]
    add_name: str
    add_url: str
    remove_node: str
    def __init__(self, add_name: _Optional[str] = ..., add_url: _Optional[str] = ..., remove_node: _Optional[str] = ...) -> None: ...

class ChangeMembersResponse(_message.Message):
    __slots__ = ["node", "token"]
    NODE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    node: str
    token: str
    def __init__(self, node: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class ChangePasswordRequest(_message.Message):
    __slots__ = ["new_password", "password"]
    NEW_PASSWORD_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    new_password: str
    password: str
    def __init__(self, password: _Optional[str] = ..., new_password: _Optional[str] = ...) -> None: ...

class ChangeUserRequest(_message.Message):
    __slots__ = ["change", "email", "user_id"]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    change: UserChange
    email: str
    user_id: int
    def __init__(self, user_id: _Optional[int] = ..., email: _Optional[str] = ..., change: _Optional[_Union[UserChange, str]] = ...) -> None: ...

class ClientFrame(_message.Message):
    __slots__ = ["acting_user_id", "backup", "batch_cast_votes", "batch_get_posts", "cancel", "cast_vote", "change_email", "change_members", "change_password", "change_user", "cluster_status", "correct_times", "create_feed", "create_post", "delete_account", "delete_post", "delete_posts", "drain", "end_session", "get_post", "get_post_rank", "get_server_stats", "get_session", "hello", "id", "import_posts", "list_feeds", "list_posts", "list_sessions", "make_password_reset", "mark_posts", "min_revision", "ping", "reset_password", "sequence", "set_log_level", "sign_in", "sign_out", "sign_up", "sync_posts", "timed", "timeout_ms", "transfer_leadership", "update_post", "watch_posts"]
    ACTING_USER_ID_FIELD_NUMBER: _ClassVar[int]
    BACKUP_FIELD_NUMBER: _ClassVar[int]
    BATCH_CAST_VOTES_FIELD_NUMBER: _ClassVar[int]
    BATCH_GET_POSTS_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CAST_VOTE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_EMAIL_FIELD_NUMBER: _ClassVar[int]
    CHANGE_MEMBERS_FIELD_NUMBER: _ClassVar[int]
    CHANGE_PASSWORD_FIELD_NUMBER: _ClassVar[int]
    CHANGE_USER_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_STATUS_FIELD_NUMBER: _ClassVar[int]
    CORRECT_TIMES_FIELD_NUMBER: _ClassVar[int]
    CREATE_FEED_FIELD_NUMBER: _ClassVar[int]
    CREATE_POST_FIELD_NUMBER: _ClassVar[int]
    DELETE_ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    DELETE_POSTS_FIELD_NUMBER: _ClassVar[int]
    DELETE_POST_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    END_SESSION_FIELD_NUMBER: _ClassVar[int]
    GET_POST_FIELD_NUMBER: _ClassVar[int]
    GET_POST_RANK_FIELD_NUMBER: _ClassVar[int]
    GET_SERVER_STATS_FIELD_NUMBER: _ClassVar[int]
    GET_SESSION_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IMPORT_POSTS_FIELD_NUMBER: _ClassVar[int]
    LIST_FEEDS_FIELD_NUMBER: _ClassVar[int]
    LIST_POSTS_FIELD_NUMBER: _ClassVar[int]
    LIST_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MAKE_PASSWORD_RESET_FIELD_NUMBER: _ClassVar[int]
    MARK_POSTS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    RESET_PASSWORD_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SET_LOG_LEVEL_FIELD_NUMBER: _ClassVar[int]
    SIGN_IN_FIELD_NUMBER: _ClassVar[int]
    SIGN_OUT_FIELD_NUMBER: _ClassVar[int]
    SIGN_UP_FIELD_NUMBER: _ClassVar[int]
    SYNC_POSTS_FIELD_NUMBER: _ClassVar[int]
    TIMED_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_LEADERSHIP_FIELD_NUMBER: _ClassVar[int]
    UPDATE_POST_FIELD_NUMBER: _ClassVar[int]
    WATCH_POSTS_FIELD_NUMBER: _ClassVar[int]
    acting_user_id: int
    backup: BackupRequest
    batch_cast_votes: BatchCastVotesRequest
    batch_get_posts: BatchGetPostsRequest
    cancel: CancelRequest
    cast_vote: CastVoteRequest
    change_email: ChangeEmailRequest
    change_members: ChangeMembersRequest
    change_password: ChangePasswordRequest
    change_user: ChangeUserRequest
    cluster_status: ClusterStatusRequest
    correct_times: CorrectTimesRequest
    create_feed: CreateFeedRequest
    create_post: CreatePostRequest
    delete_account: DeleteAccountRequest
    delete_post: DeletePostRequest
    delete_posts: DeletePostsRequest
    drain: DrainRequest
    end_session: EndSessionRequest
    get_post: GetPostRequest
    get_post_rank: GetPostRankRequest
    get_server_stats: GetServerStatsRequest
    get_session: GetSessionRequest
    hello: HelloRequest
    id: int
    import_posts: ImportPostsRequest
    list_feeds: ListFeedsRequest
    list_posts: ListPostsRequest
    list_sessions: ListSessionsRequest
    make_password_reset: MakePasswordResetRequest
    mark_posts: MarkPostsRequest
    min_revision: int
    ping: PingRequest
    reset_password: ResetPasswordRequest
    sequence: int
    set_log_level: SetLogLevelRequest
    sign_in: SignInRequest
    sign_out: SignOutRequest
    sign_up: SignUpRequest
    sync_posts: SyncPostsRequest
    timed: bool
    timeout_ms: int
    transfer_leadership: TransferLeadershipRequest
    update_post: UpdatePostRequest
    watch_posts: WatchPostsRequest
    def __init__(self, id: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., sequence: _Optional[int] = ..., min_revision: _Optional[int] = ..., acting_user_id: _Optional[int] = ..., timed: bool = ..., cast_vote: _Optional[_Union[CastVoteRequest, _Mapping]] = ..., hello: _Optional[_Union[HelloRequest, _Mapping]] = ..., ping: _Optional[_Union[PingRequest, _Mapping]] = ..., cancel: _Optional[_Union[CancelRequest, _Mapping]] = ..., sign_up: _Optional[_Union[SignUpRequest, _Mapping]] = ..., sign_in: _Optional[_Union[SignInRequest, _Mapping]] = ..., get_session: _Optional[_Union[GetSessionRequest, _Mapping]] = ..., sign_out: _Optional[_Union[SignOutRequest, _Mapping]] = ..., change_password: _Optional[_Union[ChangePasswordRequest, _Mapping]] = ..., change_email: _Optional[_Union[ChangeEmailRequest, _Mapping]] = ..., list_sessions: _Optional[_Union[ListSessionsRequest, _Mapping]] = ..., end_session: _Optional[_Union[EndSessionRequest, _Mapping]] = ..., change_user: _Optional[_Union[ChangeUserRequest, _Mapping]] = ..., make_password_reset: _Optional[_Union[MakePasswordResetRequest, _Mapping]] = ..., reset_password: _Optional[_Union[ResetPasswordRequest, _Mapping]] = ..., delete_account: _Optional[_Union[DeleteAccountRequest, _Mapping]] = ..., create_post: _Optional[_Union[CreatePostRequest, _Mapping]] = ..., get_post: _Optional[_Union[GetPostRequest, _Mapping]] = ..., batch_get_posts: _Optional[_Union[BatchGetPostsRequest, _Mapping]] = ..., list_posts: _Optional[_Union[ListPostsRequest, _Mapping]] = ..., update_post: _Optional[_Union[UpdatePostRequest, _Mapping]] = ..., delete_post: _Optional[_Union[DeletePostRequest, _Mapping]] = ..., sync_posts: _Optional[_Union[SyncPostsRequest, _Mapping]] = ..., watch_posts: _Optional[_Union[WatchPostsRequest, _Mapping]] = ..., get_post_rank: _Optional[_Union[GetPostRankRequest, _Mapping]] = ..., import_posts: _Optional[_Union[ImportPostsRequest, _Mapping]] = ..., batch_cast_votes: _Optional[_Union[BatchCastVotesRequest, _Mapping]] = ..., mark_posts: _Optional[_Union[MarkPostsRequest, _Mapping]] = ..., list_feeds: _Optional[_Union[ListFeedsRequest, _Mapping]] = ..., get_server_stats: _Optional[_Union[GetServerStatsRequest, _Mapping]] = ..., create_feed: _Optional[_Union[CreateFeedRequest, _Mapping]] = ..., backup: _Optional[_Union[BackupRequest, _Mapping]] = ..., correct_times: _Optional[_Union[CorrectTimesRequest, _Mapping]] = ..., drain: _Optional[_Union[DrainRequest, _Mapping]] = ..., set_log_level: _Optional[_Union[SetLogLevelRequest, _Mapping]] = ..., delete_posts: _Optional[_Union[DeletePostsRequest, _Mapping]] = ..., cluster_status: _Optional[_Union[ClusterStatusRequest, _Mapping]] = ..., change_members: _Optional[_Union[ChangeMembersRequest, _Mapping]] = ..., transfer_leadership: _Optional[_Union[TransferLeadershipRequest, _Mapping]] = ...) -> None: ...

class ClusterMember(_message.Message):
    __slots__ = ["address", "role"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    address: str
    role: NodeRole
    def __init__(self, address: _Optional[str] = ..., role: _Optional[_Union[NodeRole, str]] = ...) -> None: ...

class ClusterStatus(_message.Message):
    __slots__ = ["chain", "cluster", "committed", "copies", "durable", "first", "heard_age_ms", "last", "leader", "log_bytes", "members", "name", "node", "record", "role", "term"]
    CHAIN_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    COPIES_FIELD_NUMBER: _ClassVar[int]
    DURABLE_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    HEARD_AGE_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    LOG_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TERM_FIELD_NUMBER: _ClassVar[int]
    chain: int
    cluster: str
    committed: int
    copies: int
    durable: int
    first: int
    heard_age_ms: int
    last: int
    leader: str
    log_bytes: int
    members: _containers.RepeatedCompositeFieldContainer[MemberStatus]
    name: str
    node: str
    record: int
    role: str
    term: int
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ..., cluster: _Optional[str] = ..., role: _Optional[str] = ..., term: _Optional[int] = ..., leader: _Optional[str] = ..., first: _Optional[int] = ..., last: _Optional[int] = ..., committed: _Optional[int] = ..., durable: _Optional[int] = ..., log_bytes: _Optional[int] = ..., heard_age_ms: _Optional[int] = ..., copies: _Optional[int] = ..., members: _Optional[_Iterable[_Union[MemberStatus, _Mapping]]] = ..., record: _Optional[int] = ..., chain: _Optional[int] = ...) -> None: ...

class ClusterStatusRequest(_message.Message):
    __slots__ = ["record"]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: int
    def __init__(self, record: _Optional[int] = ...) -> None: ...

class CorrectTimesRequest(_message.Message):
    __slots__ = ["after_id", "apply", "limit", "time_ms"]
    AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    APPLY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    after_id: int
    apply: bool
    limit: int
    time_ms: int
    def __init__(self, apply: bool = ..., time_ms: _Optional[int] = ..., after_id: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class CorrectTimesResponse(_message.Message):
    __slots__ = ["next_after_id", "posts", "server_time_ms"]
    NEXT_AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    SERVER_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    next_after_id: int
    posts: _containers.RepeatedCompositeFieldContainer[PostTimes]
    server_time_ms: int
    def __init__(self, posts: _Optional[_Iterable[_Union[PostTimes, _Mapping]]] = ..., next_after_id: _Optional[int] = ..., server_time_ms: _Optional[int] = ...) -> None: ...

class CreateFeedRequest(_message.Message):
    __slots__ = ["feed"]
    FEED_FIELD_NUMBER: _ClassVar[int]
    feed: Feed
    def __init__(self, feed: _Optional[_Union[Feed, _Mapping]] = ...) -> None: ...

class CreatePostRequest(_message.Message):
    __slots__ = ["feed", "post"]
    FEED_FIELD_NUMBER: _ClassVar[int]
    POST_FIELD_NUMBER: _ClassVar[int]
    feed: str
    post: Post
    def __init__(self, feed: _Optional[str] = ..., post: _Optional[_Union[Post, _Mapping]] = ...) -> None: ...

class DeleteAccountRequest(_message.Message):
    __slots__ = ["keep_posts", "password"]
    KEEP_POSTS_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    keep_posts: bool
    password: str
    def __init__(self, password: _Optional[str] = ..., keep_posts: bool = ...) -> None: ...

class DeletePostRequest(_message.Message):
    __slots__ = ["id", "revision"]
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    id: int
    revision: int
    def __init__(self, id: _Optional[int] = ..., revision: _Optional[int] = ...) -> None: ...

class DeletePostsRequest(_message.Message):
    __slots__ = ["after_id", "apply", "author_id", "client_id", "host", "limit", "since_ms"]
    AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    APPLY_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    after_id: int
    apply: bool
    author_id: int
    client_id: bytes
    host: str
    limit: int
    since_ms: int
    def __init__(self, author_id: _Optional[int] = ..., client_id: _Optional[bytes] = ..., host: _Optional[str] = ..., since_ms: _Optional[int] = ..., apply: bool = ..., after_id: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class DeletePostsResponse(_message.Message):
    __slots__ = ["next_after_id", "origins_since_ms", "posts"]
    NEXT_AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    next_after_id: int
    origins_since_ms: int
    posts: _containers.RepeatedCompositeFieldContainer[PostOrigin]
    def __init__(self, posts: _Optional[_Iterable[_Union[PostOrigin, _Mapping]]] = ..., next_after_id: _Optional[int] = ..., origins_since_ms: _Optional[int] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Empty(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class Feed(_message.Message):
    __slots__ = ["default_order", "max_text_length", "max_title_length", "min_text_length", "name", "post_count", "unread_count", "vote_mode", "voters"]
    DEFAULT_ORDER_FIELD_NUMBER: _ClassVar[int]
    MAX_TEXT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MAX_TITLE_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MIN_TEXT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    POST_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNREAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    VOTERS_FIELD_NUMBER: _ClassVar[int]
    VOTE_MODE_FIELD_NUMBER: _ClassVar[int]
    default_order: Order
    max_text_length: int
    max_title_length: int
    min_text_length: int
    name: str
    post_count: int
    unread_count: int
    vote_mode: VoteMode
    voters: Voters
    def __init__(self, name: _Optional[str] = ..., default_order: _Optional[_Union[Order, str]] = ..., vote_mode: _Optional[_Union[VoteMode, str]] = ..., max_title_length: _Optional[int] = ..., min_text_length: _Optional[int] = ..., max_text_length: _Optional[int] = ..., post_count: _Optional[int] = ..., unread_count: _Optional[int] = ..., voters: _Optional[_Union[Voters, str]] = ...) -> None: ...

class FieldViolation(_message.Message):
    __slots__ = ["actual", "field", "limit", "reason"]
    ACTUAL_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    actual: int
    field: str
    limit: int
    reason: str
    def __init__(self, field: _Optional[str] = ..., reason: _Optional[str] = ..., limit: _Optional[int] = ..., actual: _Optional[int] = ...) -> None: ...

class GetPostRankRequest(_message.Message):
    __slots__ = ["id", "order", "window"]
    ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    id: int
    order: Order
    window: Window
    def __init__(self, id: _Optional[int] = ..., order: _Optional[_Union[Order, str]] = ..., window: _Optional[_Union[Window, str]] = ...) -> None: ...

class GetPostRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class GetServerStatsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GoAway(_message.Message):
    __slots__ = ["drain_ms", "last_id", "leader", "reason"]
    DRAIN_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_ID_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    drain_ms: int
    last_id: int
    leader: str
    reason: str
    def __init__(self, last_id: _Optional[int] = ..., drain_ms: _Optional[int] = ..., reason: _Optional[str] = ..., leader: _Optional[str] = ...) -> None: ...

class HelloRequest(_message.Message):
    __slots__ = ["channel", "client_id", "client_name", "protocol_version", "service_key", "session_token"]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NAME_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SERVICE_KEY_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    channel: int
    client_id: bytes
    client_name: str
    protocol_version: int
    service_key: bytes
    session_token: bytes
    def __init__(self, protocol_version: _Optional[int] = ..., client_name: _Optional[str] = ..., client_id: _Optional[bytes] = ..., session_token: _Optional[bytes] = ..., service_key: _Optional[bytes] = ..., channel: _Optional[int] = ...) -> None: ...

class HelloResponse(_message.Message):
    __slots__ = ["capabilities", "channel_number", "channel_status", "client_known", "instance_id", "last_sequence", "limits", "members", "protocol_version", "role", "server_name", "server_time_ms", "user"]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_NUMBER_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_STATUS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_KNOWN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    capabilities: _containers.RepeatedScalarFieldContainer[Capability]
    channel_number: int
    channel_status: Status
    client_known: bool
    instance_id: int
    last_sequence: int
    limits: Limits
    members: _containers.RepeatedCompositeFieldContainer[ClusterMember]
    protocol_version: int
    role: NodeRole
    server_name: str
    server_time_ms: int
    user: User
    def __init__(self, protocol_version: _Optional[int] = ..., server_name: _Optional[str] = ..., instance_id: _Optional[int] = ..., server_time_ms: _Optional[int] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., user: _Optional[_Union[User, _Mapping]] = ..., capabilities: _Optional[_Iterable[_Union[Capability, str]]] = ..., client_known: bool = ..., last_sequence: _Optional[int] = ..., channel_status: _Optional[_Union[Status, _Mapping]] = ..., role: _Optional[_Union[NodeRole, str]] = ..., members: _Optional[_Iterable[_Union[ClusterMember, _Mapping]]] = ..., channel_number: _Optional[int] = ...) -> None: ...

class ImportPostsRequest(_message.Message):
    __slots__ = ["feed", "posts"]
    FEED_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    feed: str
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    def __init__(self, feed: _Optional[str] = ..., posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ...) -> None: ...

class ImportPostsResponse(_message.Message):
    __slots__ = ["ids"]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class JournalStats(_message.Message):
    __slots__ = ["checkpoint_slice_max_us", "checkpoint_stalled", "checkpoint_us", "commit_effects", "commit_max_us", "commit_p50_us", "commit_p99_us", "commits", "durable_position", "executed_position", "folded_position", "free_bytes", "held_answers", "journal_bytes", "oldest_held_us", "read_only", "unfolded_bytes", "unfolded_limit_bytes", "unfolded_refusals"]
    CHECKPOINT_SLICE_MAX_US_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_STALLED_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_US_FIELD_NUMBER: _ClassVar[int]
    COMMITS_FIELD_NUMBER: _ClassVar[int]
    COMMIT_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    COMMIT_MAX_US_FIELD_NUMBER: _ClassVar[int]
    COMMIT_P50_US_FIELD_NUMBER: _ClassVar[int]
    COMMIT_P99_US_FIELD_NUMBER: _ClassVar[int]
    DURABLE_POSITION_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_POSITION_FIELD_NUMBER: _ClassVar[int]
    FOLDED_POSITION_FIELD_NUMBER: _ClassVar[int]
    FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    HELD_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    JOURNAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    OLDEST_HELD_US_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    UNFOLDED_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNFOLDED_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNFOLDED_REFUSALS_FIELD_NUMBER: _ClassVar[int]
    checkpoint_slice_max_us: int
    checkpoint_stalled: bool
    checkpoint_us: int
    commit_effects: int
    commit_max_us: int
    commit_p50_us: int
    commit_p99_us: int
    commits: int
    durable_position: int
    executed_position: int
    folded_position: int
    free_bytes: int
    held_answers: int
    journal_bytes: int
    oldest_held_us: int
    read_only: bool
    unfolded_bytes: int
    unfolded_limit_bytes: int
    unfolded_refusals: int
    def __init__(self, executed_position: _Optional[int] = ..., durable_position: _Optional[int] = ..., folded_position: _Optional[int] = ..., commits: _Optional[int] = ..., commit_effects: _Optional[int] = ..., commit_p50_us: _Optional[int] = ..., commit_p99_us: _Optional[int] = ..., commit_max_us: _Optional[int] = ..., journal_bytes: _Optional[int] = ..., held_answers: _Optional[int] = ..., oldest_held_us: _Optional[int] = ..., free_bytes: _Optional[int] = ..., read_only: bool = ..., unfolded_bytes: _Optional[int] = ..., unfolded_limit_bytes: _Optional[int] = ..., unfolded_refusals: _Optional[int] = ..., checkpoint_us: _Optional[int] = ..., checkpoint_slice_max_us: _Optional[int] = ..., checkpoint_stalled: bool = ...) -> None: ...

class LatencyStats(_message.Message):
    __slots__ = ["max_ns", "method", "num_answers", "p50_ns", "p90_ns", "p999_ns", "p99_ns"]
    MAX_NS_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    NUM_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    P50_NS_FIELD_NUMBER: _ClassVar[int]
    P90_NS_FIELD_NUMBER: _ClassVar[int]
    P999_NS_FIELD_NUMBER: _ClassVar[int]
    P99_NS_FIELD_NUMBER: _ClassVar[int]
    max_ns: int
    method: str
    num_answers: int
    p50_ns: int
    p90_ns: int
    p999_ns: int
    p99_ns: int
    def __init__(self, method: _Optional[str] = ..., num_answers: _Optional[int] = ..., p50_ns: _Optional[int] = ..., p90_ns: _Optional[int] = ..., p99_ns: _Optional[int] = ..., p999_ns: _Optional[int] = ..., max_ns: _Optional[int] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ["default_page_size", "idle_timeout_ms", "max_batch_get", "max_batch_votes", "max_frame_bytes", "max_import_posts", "max_in_flight", "max_page_size", "max_sync", "max_timeout_ms", "max_title_bytes", "max_title_length", "max_watch_posts", "max_watch_top", "max_watches", "sequence_window"]
    DEFAULT_PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_GET_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_VOTES_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_IMPORT_POSTS_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_SYNC_FIELD_NUMBER: _ClassVar[int]
    MAX_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_TITLE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TITLE_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MAX_WATCHES_FIELD_NUMBER: _ClassVar[int]
    MAX_WATCH_POSTS_FIELD_NUMBER: _ClassVar[int]
    MAX_WATCH_TOP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_WINDOW_FIELD_NUMBER: _ClassVar[int]
    default_page_size: int
    idle_timeout_ms: int
    max_batch_get: int
    max_batch_votes: int
    max_frame_bytes: int
    max_import_posts: int
    max_in_flight: int
    max_page_size: int
    max_sync: int
    max_timeout_ms: int
    max_title_bytes: int
    max_title_length: int
    max_watch_posts: int
    max_watch_top: int
    max_watches: int
    sequence_window: int
    def __init__(self, max_frame_bytes: _Optional[int] = ..., max_in_flight: _Optional[int] = ..., default_page_size: _Optional[int] = ..., max_page_size: _Optional[int] = ..., max_batch_get: _Optional[int] = ..., max_batch_votes: _Optional[int] = ..., max_sync: _Optional[int] = ..., max_watch_top: _Optional[int] = ..., max_timeout_ms: _Optional[int] = ..., idle_timeout_ms: _Optional[int] = ..., sequence_window: _Optional[int] = ..., max_import_posts: _Optional[int] = ..., max_watch_posts: _Optional[int] = ..., max_watches: _Optional[int] = ..., max_title_length: _Optional[int] = ..., max_title_bytes: _Optional[int] = ...) -> None: ...

class ListFeedsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListFeedsResponse(_message.Message):
    __slots__ = ["feeds"]
    FEEDS_FIELD_NUMBER: _ClassVar[int]
    feeds: _containers.RepeatedCompositeFieldContainer[Feed]
    def __init__(self, feeds: _Optional[_Iterable[_Union[Feed, _Mapping]]] = ...) -> None: ...

class ListPostsRequest(_message.Message):
    __slots__ = ["around_post_id", "author_id", "consistency", "feed", "include_dismissed", "newer_than_post_id", "order", "page_size", "page_token", "start_rank", "unread_only", "window"]
    AROUND_POST_ID_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_ID_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_DISMISSED_FIELD_NUMBER: _ClassVar[int]
    NEWER_THAN_POST_ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_RANK_FIELD_NUMBER: _ClassVar[int]
    UNREAD_ONLY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    around_post_id: int
    author_id: int
    consistency: Consistency
    feed: str
    include_dismissed: bool
    newer_than_post_id: int
    order: Order
    page_size: int
    page_token: bytes
    start_rank: int
    unread_only: bool
    window: Window
    def __init__(self, feed: _Optional[str] = ..., order: _Optional[_Union[Order, str]] = ..., window: _Optional[_Union[Window, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[bytes] = ..., around_post_id: _Optional[int] = ..., start_rank: _Optional[int] = ..., newer_than_post_id: _Optional[int] = ..., author_id: _Optional[int] = ..., unread_only: bool = ..., include_dismissed: bool = ..., consistency: _Optional[_Union[Consistency, str]] = ...) -> None: ...

class ListPostsResponse(_message.Message):
    __slots__ = ["consistency", "first_rank", "newer_count", "next_page_token", "posts", "previous_page_token", "refresh_token", "total_size"]
    CONSISTENCY_FIELD_NUMBER: _ClassVar[int]
    FIRST_RANK_FIELD_NUMBER: _ClassVar[int]
    NEWER_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REFRESH_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    consistency: Consistency
    first_rank: int
    newer_count: int
    next_page_token: bytes
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    previous_page_token: bytes
    refresh_token: bytes
    total_size: int
    def __init__(self, posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ..., next_page_token: _Optional[bytes] = ..., previous_page_token: _Optional[bytes] = ..., refresh_token: _Optional[bytes] = ..., first_rank: _Optional[int] = ..., total_size: _Optional[int] = ..., newer_count: _Optional[int] = ..., consistency: _Optional[_Union[Consistency, str]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ["sessions"]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionInfo]
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionInfo, _Mapping]]] = ...) -> None: ...

class MakePasswordResetRequest(_message.Message):
    __slots__ = ["email", "user_id"]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    email: str
    user_id: int
    def __init__(self, user_id: _Optional[int] = ..., email: _Optional[str] = ...) -> None: ...

class MarkChanges(_message.Message):
    __slots__ = ["next", "posts", "reset", "through"]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    THROUGH_FIELD_NUMBER: _ClassVar[int]
    next: MarkPosition
    posts: _containers.RepeatedCompositeFieldContainer[MarkedPost]
    reset: bool
    through: _containers.RepeatedCompositeFieldContainer[MarkedThrough]
    def __init__(self, next: _Optional[_Union[MarkPosition, _Mapping]] = ..., reset: bool = ..., through: _Optional[_Iterable[_Union[MarkedThrough, _Mapping]]] = ..., posts: _Optional[_Iterable[_Union[MarkedPost, _Mapping]]] = ...) -> None: ...

class MarkPosition(_message.Message):
    __slots__ = ["copy_revision", "revision"]
    COPY_REVISION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    copy_revision: int
    revision: int
    def __init__(self, revision: _Optional[int] = ..., copy_revision: _Optional[int] = ...) -> None: ...

class MarkPostsRequest(_message.Message):
    __slots__ = ["feed", "mark", "post_ids", "through_post_id"]
    FEED_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    POST_IDS_FIELD_NUMBER: _ClassVar[int]
    THROUGH_POST_ID_FIELD_NUMBER: _ClassVar[int]
    feed: str
    mark: Mark
    post_ids: _containers.RepeatedScalarFieldContainer[int]
    through_post_id: int
    def __init__(self, feed: _Optional[str] = ..., mark: _Optional[_Union[Mark, str]] = ..., post_ids: _Optional[_Iterable[int]] = ..., through_post_id: _Optional[int] = ...) -> None: ...

class MarkPostsResponse(_message.Message):
    __slots__ = ["unread_count"]
    UNREAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    unread_count: int
    def __init__(self, unread_count: _Optional[int] = ...) -> None: ...

class MarkedPost(_message.Message):
    __slots__ = ["dismissed", "id", "read"]
    DISMISSED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    dismissed: bool
    id: int
    read: bool
    def __init__(self, id: _Optional[int] = ..., read: bool = ..., dismissed: bool = ...) -> None: ...

class MarkedThrough(_message.Message):
    __slots__ = ["create_time_ms", "feed", "mark", "post_id"]
    CREATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    POST_ID_FIELD_NUMBER: _ClassVar[int]
    create_time_ms: int
    feed: str
    mark: Mark
    post_id: int
    def __init__(self, feed: _Optional[str] = ..., mark: _Optional[_Union[Mark, str]] = ..., create_time_ms: _Optional[int] = ..., post_id: _Optional[int] = ...) -> None: ...

class MemberStatus(_message.Message):
    __slots__ = ["address", "connected", "highest_level", "lag_bytes", "lag_ms", "lowest_level", "match", "name", "node", "service_age_ms", "service_gone", "state", "url", "voter"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LOWEST_LEVEL_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    SERVICE_AGE_MS_FIELD_NUMBER: _ClassVar[int]
    SERVICE_GONE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    VOTER_FIELD_NUMBER: _ClassVar[int]
    address: str
    connected: bool
    highest_level: int
    lag_bytes: int
    lag_ms: int
    lowest_level: int
    match: int
    name: str
    node: str
    service_age_ms: int
    service_gone: bool
    state: str
    url: str
    voter: bool
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ..., url: _Optional[str] = ..., voter: bool = ..., connected: bool = ..., address: _Optional[str] = ..., lowest_level: _Optional[int] = ..., highest_level: _Optional[int] = ..., service_age_ms: _Optional[int] = ..., match: _Optional[int] = ..., state: _Optional[str] = ..., lag_bytes: _Optional[int] = ..., lag_ms: _Optional[int] = ..., service_gone: bool = ...) -> None: ...

class MethodStats(_message.Message):
    __slots__ = ["last_error", "method", "num_errors", "num_requests"]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    NUM_ERRORS_FIELD_NUMBER: _ClassVar[int]
    NUM_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    last_error: str
    method: str
    num_errors: int
    num_requests: int
    def __init__(self, method: _Optional[str] = ..., num_requests: _Optional[int] = ..., num_errors: _Optional[int] = ..., last_error: _Optional[str] = ...) -> None: ...

class PasswordReset(_message.Message):
    __slots__ = ["expire_time_ms", "token", "user"]
    EXPIRE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    expire_time_ms: int
    token: bytes
    user: User
    def __init__(self, token: _Optional[bytes] = ..., user: _Optional[_Union[User, _Mapping]] = ..., expire_time_ms: _Optional[int] = ...) -> None: ...

class PingRequest(_message.Message):
    __slots__ = ["payload"]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    def __init__(self, payload: _Optional[bytes] = ...) -> None: ...

class PingResponse(_message.Message):
    __slots__ = ["payload", "serving"]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SERVING_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    serving: ServingStatus
    def __init__(self, payload: _Optional[bytes] = ..., serving: _Optional[_Union[ServingStatus, str]] = ...) -> None: ...

class Post(_message.Message):
    __slots__ = ["author", "comment_count", "create_time_ms", "deleted", "downvote_count", "feed", "id", "image_url", "link_url", "revision", "score", "text", "thumbnail_url", "title", "update_time_ms", "upvote_count", "viewer"]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    COMMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    DOWNVOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IMAGE_URL_FIELD_NUMBER: _ClassVar[int]
    LINK_URL_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    THUMBNAIL_URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    UPVOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    VIEWER_FIELD_NUMBER: _ClassVar[int]
    author: User
    comment_count: int
    create_time_ms: int
    deleted: bool
    downvote_count: int
    feed: str
    id: int
    image_url: str
    link_url: str
    revision: int
    score: int
    text: str
    thumbnail_url: str
    title: str
    update_time_ms: int
    upvote_count: int
    viewer: Viewer
    def __init__(self, id: _Optional[int] = ..., feed: _Optional[str] = ..., author: _Optional[_Union[User, _Mapping]] = ..., title: _Optional[str] = ..., text: _Optional[str] = ..., link_url: _Optional[str] = ..., thumbnail_url: _Optional[str] = ..., image_url: _Optional[str] = ..., score: _Optional[int] = ..., upvote_count: _Optional[int] = ..., downvote_count: _Optional[int] = ..., comment_count: _Optional[int] = ..., create_time_ms: _Optional[int] = ..., update_time_ms: _Optional[int] = ..., revision: _Optional[int] = ..., deleted: bool = ..., viewer: _Optional[_Union[Viewer, _Mapping]] = ...) -> None: ...

class PostOrigin(_message.Message):
    __slots__ = ["author_id", "client_id", "create_time_ms", "feed", "host", "id", "title"]
    AUTHOR_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    author_id: int
    client_id: bytes
    create_time_ms: int
    feed: str
    host: str
    id: int
    title: str
    def __init__(self, id: _Optional[int] = ..., feed: _Optional[str] = ..., title: _Optional[str] = ..., create_time_ms: _Optional[int] = ..., author_id: _Optional[int] = ..., client_id: _Optional[bytes] = ..., host: _Optional[str] = ...) -> None: ...

class PostRank(_message.Message):
    __slots__ = ["rank", "total_size"]
    RANK_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    rank: int
    total_size: int
    def __init__(self, rank: _Optional[int] = ..., total_size: _Optional[int] = ...) -> None: ...

class PostTimes(_message.Message):
    __slots__ = ["create_time_ms", "feed", "id", "title", "update_time_ms"]
    CREATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    create_time_ms: int
    feed: str
    id: int
    title: str
    update_time_ms: int
    def __init__(self, id: _Optional[int] = ..., feed: _Optional[str] = ..., title: _Optional[str] = ..., create_time_ms: _Optional[int] = ..., update_time_ms: _Optional[int] = ...) -> None: ...

class ResetPasswordRequest(_message.Message):
    __slots__ = ["new_password", "token"]
    NEW_PASSWORD_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    new_password: str
    token: bytes
    def __init__(self, token: _Optional[bytes] = ..., new_password: _Optional[str] = ...) -> None: ...

class ServerFrame(_message.Message):
    __slots__ = ["backup", "batch_cast_votes", "batch_get_posts", "cast_vote", "change_members", "cluster_status", "correct_times", "delete_posts", "empty", "feed", "go_away", "hello", "id", "import_posts", "list_feeds", "list_posts", "list_sessions", "mark_posts", "more", "password_reset", "ping", "post", "post_rank", "revision", "server_stats", "session", "status", "sync_posts", "times", "watch_posts"]
    BACKUP_FIELD_NUMBER: _ClassVar[int]
    BATCH_CAST_VOTES_FIELD_NUMBER: _ClassVar[int]
    BATCH_GET_POSTS_FIELD_NUMBER: _ClassVar[int]
    CAST_VOTE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_MEMBERS_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_STATUS_FIELD_NUMBER: _ClassVar[int]
    CORRECT_TIMES_FIELD_NUMBER: _ClassVar[int]
    DELETE_POSTS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    GO_AWAY_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IMPORT_POSTS_FIELD_NUMBER: _ClassVar[int]
    LIST_FEEDS_FIELD_NUMBER: _ClassVar[int]
    LIST_POSTS_FIELD_NUMBER: _ClassVar[int]
    LIST_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MARK_POSTS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_RESET_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    POST_FIELD_NUMBER: _ClassVar[int]
    POST_RANK_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SERVER_STATS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SYNC_POSTS_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    WATCH_POSTS_FIELD_NUMBER: _ClassVar[int]
    backup: BackupResponse
    batch_cast_votes: BatchCastVotesResponse
    batch_get_posts: BatchGetPostsResponse
    cast_vote: CastVoteResponse
    change_members: ChangeMembersResponse
    cluster_status: ClusterStatus
    correct_times: CorrectTimesResponse
    delete_posts: DeletePostsResponse
    empty: Empty
    feed: Feed
    go_away: GoAway
    hello: HelloResponse
    id: int
    import_posts: ImportPostsResponse
    list_feeds: ListFeedsResponse
    list_posts: ListPostsResponse
    list_sessions: ListSessionsResponse
    mark_posts: MarkPostsResponse
    more: bool
    password_reset: PasswordReset
    ping: PingResponse
    post: Post
    post_rank: PostRank
    revision: int
    server_stats: ServerStats
    session: UserSession
    status: Status
    sync_posts: SyncPostsResponse
    times: CallTimes
    watch_posts: WatchPostsEvent
    def __init__(self, id: _Optional[int] = ..., revision: _Optional[int] = ..., status: _Optional[_Union[Status, _Mapping]] = ..., more: bool = ..., times: _Optional[_Union[CallTimes, _Mapping]] = ..., cast_vote: _Optional[_Union[CastVoteResponse, _Mapping]] = ..., hello: _Optional[_Union[HelloResponse, _Mapping]] = ..., ping: _Optional[_Union[PingResponse, _Mapping]] = ..., go_away: _Optional[_Union[GoAway, _Mapping]] = ..., session: _Optional[_Union[UserSession, _Mapping]] = ..., list_sessions: _Optional[_Union[ListSessionsResponse, _Mapping]] = ..., password_reset: _Optional[_Union[PasswordReset, _Mapping]] = ..., post: _Optional[_Union[Post, _Mapping]] = ..., batch_get_posts: _Optional[_Union[BatchGetPostsResponse, _Mapping]] = ..., list_posts: _Optional[_Union[ListPostsResponse, _Mapping]] = ..., sync_posts: _Optional[_Union[SyncPostsResponse, _Mapping]] = ..., watch_posts: _Optional[_Union[WatchPostsEvent, _Mapping]] = ..., post_rank: _Optional[_Union[PostRank, _Mapping]] = ..., import_posts: _Optional[_Union[ImportPostsResponse, _Mapping]] = ..., batch_cast_votes: _Optional[_Union[BatchCastVotesResponse, _Mapping]] = ..., mark_posts: _Optional[_Union[MarkPostsResponse, _Mapping]] = ..., list_feeds: _Optional[_Union[ListFeedsResponse, _Mapping]] = ..., server_stats: _Optional[_Union[ServerStats, _Mapping]] = ..., feed: _Optional[_Union[Feed, _Mapping]] = ..., backup: _Optional[_Union[BackupResponse, _Mapping]] = ..., correct_times: _Optional[_Union[CorrectTimesResponse, _Mapping]] = ..., delete_posts: _Optional[_Union[DeletePostsResponse, _Mapping]] = ..., cluster_status: _Optional[_Union[ClusterStatus, _Mapping]] = ..., change_members: _Optional[_Union[ChangeMembersResponse, _Mapping]] = ..., empty: _Optional[_Union[Empty, _Mapping]] = ...) -> None: ...

class ServerStats(_message.Message):
    __slots__ = ["accept_pauses", "accepted_connections", "accounts", "backups", "bad_frames", "buffered_bytes", "channel_bytes", "channels", "connections", "durability", "evicted_channels", "held_time", "journal", "latencies", "methods", "over_budget_closes", "post_bytes", "post_limit_bytes", "posts", "queued_hashes", "refused_channels", "refused_connections", "refused_devices", "refused_posts", "refused_sign_ins", "repeated_calls", "revision", "server_name", "sessions", "slow_frames", "snapshot_bytes", "snapshots", "start_time_ms", "stripe_contentions", "watches", "watching_peers"]
    ACCEPTED_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_PAUSES_FIELD_NUMBER: _ClassVar[int]
    ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    BACKUPS_FIELD_NUMBER: _ClassVar[int]
    BAD_FRAMES_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_BYTES_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_FIELD_NUMBER: _ClassVar[int]
    EVICTED_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    HELD_TIME_FIELD_NUMBER: _ClassVar[int]
    JOURNAL_FIELD_NUMBER: _ClassVar[int]
    LATENCIES_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    OVER_BUDGET_CLOSES_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    POST_BYTES_FIELD_NUMBER: _ClassVar[int]
    POST_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUED_HASHES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_DEVICES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_POSTS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_SIGN_INS_FIELD_NUMBER: _ClassVar[int]
    REPEATED_CALLS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SLOW_FRAMES_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_BYTES_FIELD_NUMBER: _ClassVar[int]
    START_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    STRIPE_CONTENTIONS_FIELD_NUMBER: _ClassVar[int]
    WATCHES_FIELD_NUMBER: _ClassVar[int]
    WATCHING_PEERS_FIELD_NUMBER: _ClassVar[int]
    accept_pauses: int
    accepted_connections: int
    accounts: int
    backups: BackupStats
    bad_frames: int
    buffered_bytes: int
    channel_bytes: int
    channels: int
    connections: int
    durability: str
    evicted_channels: int
    held_time: LatencyStats
    journal: JournalStats
    latencies: _containers.RepeatedCompositeFieldContainer[LatencyStats]
    methods: _containers.RepeatedCompositeFieldContainer[MethodStats]
    over_budget_closes: int
    post_bytes: int
    post_limit_bytes: int
    posts: int
    queued_hashes: int
    refused_channels: int
    refused_connections: int
    refused_devices: int
    refused_posts: int
    refused_sign_ins: int
    repeated_calls: int
    revision: int
    server_name: str
    sessions: int
    slow_frames: int
    snapshot_bytes: int
    snapshots: int
    start_time_ms: int
    stripe_contentions: int
    watches: int
    watching_peers: _containers.RepeatedCompositeFieldContainer[WatchingPeer]
    def __init__(self, server_name: _Optional[str] = ..., start_time_ms: _Optional[int] = ..., connections: _Optional[int] = ..., posts: _Optional[int] = ..., revision: _Optional[int] = ..., methods: _Optional[_Iterable[_Union[MethodStats, _Mapping]]] = ..., snapshots: _Optional[int] = ..., snapshot_bytes: _Optional[int] = ..., watches: _Optional[int] = ..., stripe_contentions: _Optional[int] = ..., accepted_connections: _Optional[int] = ..., refused_connections: _Optional[int] = ..., slow_frames: _Optional[int] = ..., bad_frames: _Optional[int] = ..., buffered_bytes: _Optional[int] = ..., accept_pauses: _Optional[int] = ..., durability: _Optional[str] = ..., journal: _Optional[_Union[JournalStats, _Mapping]] = ..., channels: _Optional[int] = ..., evicted_channels: _Optional[int] = ..., repeated_calls: _Optional[int] = ..., over_budget_closes: _Optional[int] = ..., channel_bytes: _Optional[int] = ..., refused_channels: _Optional[int] = ..., refused_devices: _Optional[int] = ..., accounts: _Optional[int] = ..., sessions: _Optional[int] = ..., queued_hashes: _Optional[int] = ..., refused_sign_ins: _Optional[int] = ..., backups: _Optional[_Union[BackupStats, _Mapping]] = ..., latencies: _Optional[_Iterable[_Union[LatencyStats, _Mapping]]] = ..., held_time: _Optional[_Union[LatencyStats, _Mapping]] = ..., watching_peers: _Optional[_Iterable[_Union[WatchingPeer, _Mapping]]] = ..., post_bytes: _Optional[int] = ..., post_limit_bytes: _Optional[int] = ..., refused_posts: _Optional[int] = ...) -> None: ...

class SessionInfo(_message.Message):
    __slots__ = ["current", "expire_time_ms", "id", "use_time_ms"]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    USE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    current: bool
    expire_time_ms: int
    id: int
    use_time_ms: int
    def __init__(self, id: _Optional[int] = ..., use_time_ms: _Optional[int] = ..., expire_time_ms: _Optional[int] = ..., current: bool = ...) -> None: ...

class SetLogLevelRequest(_message.Message):
    __slots__ = ["level"]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    level: str
    def __init__(self, level: _Optional[str] = ...) -> None: ...

class SignInRequest(_message.Message):
    __slots__ = ["create_if_missing", "email", "password"]
    CREATE_IF_MISSING_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    create_if_missing: bool
    email: str
    password: str
    def __init__(self, email: _Optional[str] = ..., password: _Optional[str] = ..., create_if_missing: bool = ...) -> None: ...

class SignOutRequest(_message.Message):
    __slots__ = ["everywhere"]
    EVERYWHERE_FIELD_NUMBER: _ClassVar[int]
    everywhere: bool
    def __init__(self, everywhere: bool = ...) -> None: ...

class SignUpRequest(_message.Message):
    __slots__ = ["display_name", "email", "password"]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    display_name: str
    email: str
    password: str
    def __init__(self, email: _Optional[str] = ..., password: _Optional[str] = ..., display_name: _Optional[str] = ...) -> None: ...

class Status(_message.Message):
    __slots__ = ["code", "leader", "message", "not_executed", "reason", "retry_after_ms", "violations"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NOT_EXECUTED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    code: Code
    leader: str
    message: str
    not_executed: bool
    reason: str
    retry_after_ms: int
    violations: _containers.RepeatedCompositeFieldContainer[FieldViolation]
    def __init__(self, code: _Optional[_Union[Code, str]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., not_executed: bool = ..., retry_after_ms: _Optional[int] = ..., violations: _Optional[_Iterable[_Union[FieldViolation, _Mapping]]] = ..., leader: _Optional[str] = ...) -> None: ...

class SyncPostsRequest(_message.Message):
    __slots__ = ["copy_revision", "feed", "instance_id", "marks", "page_size", "since_revision"]
    COPY_REVISION_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SINCE_REVISION_FIELD_NUMBER: _ClassVar[int]
    copy_revision: int
    feed: str
    instance_id: int
    marks: MarkPosition
    page_size: int
    since_revision: int
    def __init__(self, feed: _Optional[str] = ..., since_revision: _Optional[int] = ..., page_size: _Optional[int] = ..., copy_revision: _Optional[int] = ..., instance_id: _Optional[int] = ..., marks: _Optional[_Union[MarkPosition, _Mapping]] = ...) -> None: ...

class SyncPostsResponse(_message.Message):
    __slots__ = ["copy_revision", "instance_id", "marks", "more", "next_revision", "posts", "reset"]
    COPY_REVISION_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    NEXT_REVISION_FIELD_NUMBER: _ClassVar[int]
    POSTS_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    copy_revision: int
    instance_id: int
    marks: MarkChanges
    more: bool
    next_revision: int
    posts: _containers.RepeatedCompositeFieldContainer[Post]
    reset: bool
    def __init__(self, posts: _Optional[_Iterable[_Union[Post, _Mapping]]] = ..., next_revision: _Optional[int] = ..., more: bool = ..., reset: bool = ..., copy_revision: _Optional[int] = ..., instance_id: _Optional[int] = ..., marks: _Optional[_Union[MarkChanges, _Mapping]] = ...) -> None: ...

class TransferLeadershipRequest(_message.Message):
    __slots__ = ["node"]
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class UpdatePostRequest(_message.Message):
    __slots__ = ["post", "update_mask"]
    POST_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    post: Post
    update_mask: _containers.RepeatedScalarFieldContainer[PostField]
    def __init__(self, post: _Optional[_Union[Post, _Mapping]] = ..., update_mask: _Optional[_Iterable[_Union[PostField, str]]] = ...) -> None: ...

class User(_message.Message):
    __slots__ = ["create_time_ms", "display_name", "id"]
    CREATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    create_time_ms: int
    display_name: str
    id: int
    def __init__(self, id: _Optional[int] = ..., display_name: _Optional[str] = ..., create_time_ms: _Optional[int] = ...) -> None: ...

class UserSession(_message.Message):
    __slots__ = ["expire_time_ms", "token", "user", "user_created"]
    EXPIRE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    USER_CREATED_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    expire_time_ms: int
    token: bytes
    user: User
    user_created: bool
    def __init__(self, token: _Optional[bytes] = ..., user: _Optional[_Union[User, _Mapping]] = ..., expire_time_ms: _Optional[int] = ..., user_created: bool = ...) -> None: ...

class Viewer(_message.Message):
    __slots__ = ["dismissed", "read", "vote"]
    DISMISSED_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    dismissed: bool
    read: bool
    vote: VoteDirection
    def __init__(self, vote: _Optional[_Union[VoteDirection, str]] = ..., read: bool = ..., dismissed: bool = ...) -> None: ...

class WatchPostsEvent(_message.Message):
    __slots__ = ["changed", "new_post_count", "ranking", "removed_ids", "reset"]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    NEW_POST_COUNT_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    REMOVED_IDS_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    changed: _containers.RepeatedCompositeFieldContainer[Post]
    new_post_count: int
    ranking: _containers.RepeatedScalarFieldContainer[int]
    removed_ids: _containers.RepeatedScalarFieldContainer[int]
    reset: bool
    def __init__(self, changed: _Optional[_Iterable[_Union[Post, _Mapping]]] = ..., ranking: _Optional[_Iterable[int]] = ..., removed_ids: _Optional[_Iterable[int]] = ..., new_post_count: _Optional[int] = ..., reset: bool = ...) -> None: ...

class WatchPostsRequest(_message.Message):
    __slots__ = ["author_id", "exclude_dismissed", "feed", "min_interval_ms", "order", "post_ids", "since_revision", "top_count", "unread_only", "window"]
    AUTHOR_ID_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_DISMISSED_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    MIN_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    POST_IDS_FIELD_NUMBER: _ClassVar[int]
    SINCE_REVISION_FIELD_NUMBER: _ClassVar[int]
    TOP_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNREAD_ONLY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    author_id: int
    exclude_dismissed: bool
    feed: str
    min_interval_ms: int
    order: Order
    post_ids: _containers.RepeatedScalarFieldContainer[int]
    since_revision: int
    top_count: int
    unread_only: bool
    window: Window
    def __init__(self, feed: _Optional[str] = ..., order: _Optional[_Union[Order, str]] = ..., window: _Optional[_Union[Window, str]] = ..., top_count: _Optional[int] = ..., post_ids: _Optional[_Iterable[int]] = ..., min_interval_ms: _Optional[int] = ..., since_revision: _Optional[int] = ..., author_id: _Optional[int] = ..., unread_only: bool = ..., exclude_dismissed: bool = ...) -> None: ...

class WatchingPeer(_message.Message):
    __slots__ = ["peer", "watches"]
    PEER_FIELD_NUMBER: _ClassVar[int]
    WATCHES_FIELD_NUMBER: _ClassVar[int]
    peer: str
    watches: int
    def __init__(self, peer: _Optional[str] = ..., watches: _Optional[int] = ...) -> None: ...

class Code(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class NodeRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Capability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ServingStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class UserChange(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Order(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Window(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Consistency(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class PostField(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class VoteDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Mark(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class VoteMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Voters(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
