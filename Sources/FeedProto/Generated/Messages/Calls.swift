// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// A call.
///
/// The service answers an unknown call with UNIMPLEMENTED / UNKNOWN_METHOD.
///
/// A case whose value takes more than 24 bytes is `indirect`, so that the enum stays small.
public enum Request: Equatable, Sendable {
    /// Votes on a post: one more on a TALLY feed, the caller's ballot on a BALLOT feed.
    case castVote(CastVoteRequest)
    /// Introduces a client.
    indirect case hello(HelloRequest)
    /// Asks for a sign of life.
    case ping(PingRequest)
    /// Ends a watch of the connection.
    case cancel(CancelRequest)
    /// Creates an account and signs in; takes no sequence.
    indirect case signUp(SignUpRequest)
    /// Signs in; takes no sequence.
    indirect case signIn(SignInRequest)
    /// Asks for the session of the connection, and extends it.
    ///
    /// The answer: `UserSession`.
    case getSession
    /// Ends the session of the connection, which has no user from then on.
    case signOut(SignOutRequest)
    /// Creates a post.
    indirect case createPost(CreatePostRequest)
    /// Asks for one post.
    case getPost(GetPostRequest)
    /// Asks for several posts by id.
    case batchGetPosts(BatchGetPostsRequest)
    /// Asks for a page of a feed.
    indirect case listPosts(ListPostsRequest)
    /// Changes fields of a post; for its author (else NOT_AUTHOR) and service callers.
    indirect case updatePost(UpdatePostRequest)
    /// Deletes a post; deleting it again is OK.
    case deletePost(DeletePostRequest)
    /// Asks for the posts that have changed since a revision, to keep a copy of a feed.
    indirect case syncPosts(SyncPostsRequest)
    /// Watches the first posts of a list, or single posts.
    indirect case watchPosts(WatchPostsRequest)
    /// Asks for a post's place in its feed.
    case getPostRank(GetPostRankRequest)
    /// Imports posts from another system, all or none, with the times and counts they had there.
    case importPosts(ImportPostsRequest)
    /// Casts several votes in one frame; the batch is not atomic.
    case batchCastVotes(BatchCastVotesRequest)
    /// Marks posts for the caller: a user, or else a device.
    indirect case markPosts(MarkPostsRequest)
    /// Asks for all feeds.
    ///
    /// The answer: `ListFeedsResponse`.
    case listFeeds
    /// Asks how the service is doing.
    ///
    /// Callers without a key, unless they are local, are not told of the service's disk and
    /// backups: `freeByteCount` is 0 and `backups` is absent.
    ///
    /// The answer: `ServerStats`.
    case getServerStats
    /// Creates a feed; FEED_EXISTS where there is one of that name.
    indirect case createFeed(CreateFeedRequest)
    /// Backs up the service's state while it serves; for operators only, else PERMISSION_DENIED /
    /// ROLE_DENIED.
    ///
    /// The answer comes once the backup is complete or has failed, and may come after the answers
    /// to later calls of the connection, as those to SignUp and SignIn may. The answer also comes
    /// where the client has shut down its sending side. A service that stops finishes the backup if
    /// that takes no longer than half of GoAway's `drainMilliseconds`, else it cancels the backup,
    /// and answers either way.
    ///
    /// One backup is made at a time. With an error there is no backup, and nothing of it is left:
    ///
    /// - RESOURCE_EXHAUSTED / BACKUP_RUNNING: another one is under way.
    /// - RESOURCE_EXHAUSTED / BACKUP_NO_ROOM or READ_ONLY: the disk has too little room.
    /// - ABORTED / BACKUP_CANCELLED: it held changes up, or the disk filled while it was made.
    /// - UNAVAILABLE / DRAINING: the service stops.
    /// - FAILED_PRECONDITION / NOT_DURABLE: in memory only there is nothing to back up.
    /// - INTERNAL / INTERNAL: it failed otherwise; the message says how.
    ///
    /// The answer: `BackupResponse`.
    case backup
    /// Finds posts whose `createTimeMilliseconds` or `updateTimeMilliseconds` is more than five
    /// minutes ahead of the service's clock, as a wrong clock stamps them, and corrects them on
    /// request.
    indirect case correctTimes(CorrectTimesRequest)
    /// Stops the service as SIGTERM does; for operators only, else PERMISSION_DENIED / ROLE_DENIED.
    ///
    /// The answer comes before GoAway, and a repeat is OK.
    ///
    /// The answer: `Empty`.
    case drain
    /// Sets the least level of the log's lines, until another call, SIGUSR1 or the end of the
    /// service; for operators only, else PERMISSION_DENIED / ROLE_DENIED.
    case setLogLevel(SetLogLevelRequest)
    /// Finds the posts that one user, device or host has made since a time, and deletes them on
    /// request.
    indirect case deletePosts(DeletePostsRequest)

    /// The name of the case, in the form of a remote call's: `CastVote` of `castVote`.
    public var name: String {
        switch self {
        case .castVote: "CastVote"
        case .hello: "Hello"
        case .ping: "Ping"
        case .cancel: "Cancel"
        case .signUp: "SignUp"
        case .signIn: "SignIn"
        case .getSession: "GetSession"
        case .signOut: "SignOut"
        case .createPost: "CreatePost"
        case .getPost: "GetPost"
        case .batchGetPosts: "BatchGetPosts"
        case .listPosts: "ListPosts"
        case .updatePost: "UpdatePost"
        case .deletePost: "DeletePost"
        case .syncPosts: "SyncPosts"
        case .watchPosts: "WatchPosts"
        case .getPostRank: "GetPostRank"
        case .importPosts: "ImportPosts"
        case .batchCastVotes: "BatchCastVotes"
        case .markPosts: "MarkPosts"
        case .listFeeds: "ListFeeds"
        case .getServerStats: "GetServerStats"
        case .createFeed: "CreateFeed"
        case .backup: "Backup"
        case .correctTimes: "CorrectTimes"
        case .drain: "Drain"
        case .setLogLevel: "SetLogLevel"
        case .deletePosts: "DeletePosts"
        }
    }
}

/// An answer; absent where `status` is present.
///
/// A case whose value takes more than 36 bytes is `indirect`, so that the enum stays small.
public enum Response: Equatable, Sendable {
    /// A post's counts, this vote among them.
    case castVote(CastVoteResponse)
    /// Introduces the service.
    indirect case hello(HelloResponse)
    /// A sign of life.
    case ping(PingResponse)
    /// Says that the service is about to close the connection.
    case goAway(GoAway)
    /// The session of a SignUp, a SignIn or a GetSession.
    indirect case session(UserSession)
    /// The post of a CreatePost, a GetPost or an UpdatePost.
    indirect case post(Post)
    /// Posts by id.
    case batchGetPosts(BatchGetPostsResponse)
    /// A page of a feed.
    indirect case listPosts(ListPostsResponse)
    /// Posts in the order of their last changes, each as it is now.
    indirect case syncPosts(SyncPostsResponse)
    /// What has changed since the event before.
    case watchPosts(WatchPostsEvent)
    /// A post's place in its feed.
    case postRank(PostRank)
    /// The posts that were imported.
    case importPosts(ImportPostsResponse)
    /// The result of each vote of a batch.
    case batchCastVotes(BatchCastVotesResponse)
    /// How many posts are left to read.
    case markPosts(MarkPostsResponse)
    /// All feeds.
    case listFeeds(ListFeedsResponse)
    /// The service's statistics.
    indirect case serverStats(ServerStats)
    /// The feed of a CreateFeed.
    indirect case feed(Feed)
    /// The backup that was made.
    case backup(BackupResponse)
    /// Posts that are ahead of the clock, in the order of their ids.
    case correctTimes(CorrectTimesResponse)
    /// Posts and who has made them, in the order of their ids.
    case deletePosts(DeletePostsResponse)
    /// The success of a call that answers with nothing: DeletePost, SignOut, Drain, SetLogLevel.
    case empty
}
