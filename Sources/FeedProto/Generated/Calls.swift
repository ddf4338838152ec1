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
    /// Changes the password of the connection's user; takes no sequence.
    indirect case changePassword(ChangePasswordRequest)
    /// Gives the connection's user another e-mail address; takes no sequence.
    indirect case changeEmail(ChangeEmailRequest)
    /// Asks for the sessions of the connection's user.
    ///
    /// The answer: `ListSessionsResponse`.
    case listSessions
    /// Ends a session of the connection's user.
    case endSession(EndSessionRequest)
    /// Changes a user, for a service; takes no sequence, and may be repeated.
    indirect case changeUser(ChangeUserRequest)
    /// Asks for a token with which a user who has forgotten the password gets another one, for a
    /// service that sends it to the user; takes no sequence.
    case makePasswordReset(MakePasswordResetRequest)
    /// Changes the password of the user of a token, and signs in; takes no sequence.
    case resetPassword(ResetPasswordRequest)
    /// Deletes the account of the connection's user; takes no sequence.
    case deleteAccount(DeleteAccountRequest)
    /// Creates a post.
    indirect case createPost(CreatePostRequest)
    /// Asks for one post.
    case getPost(GetPostRequest)
    /// Asks for several posts by id.
    case batchGetPosts(BatchGetPostsRequest)
    /// Asks for a page of a feed.
    indirect case listPosts(ListPostsRequest)
    /// Changes fields of a post; for its author, the user or the device that created it (else
    /// NOT_AUTHOR), and service callers.
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
    /// Asks what a node knows of its cluster; for operators only, else PERMISSION_DENIED /
    /// ROLE_DENIED.
    case clusterStatus(ClusterStatusRequest)
    /// Adds a node to the cluster, or removes one; for operators only, else PERMISSION_DENIED /
    /// ROLE_DENIED.
    indirect case changeMembers(ChangeMembersRequest)
    /// Gives the leadership to another node; for operators only, else PERMISSION_DENIED /
    /// ROLE_DENIED.
    case transferLeadership(TransferLeadershipRequest)

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
        case .changePassword: "ChangePassword"
        case .changeEmail: "ChangeEmail"
        case .listSessions: "ListSessions"
        case .endSession: "EndSession"
        case .changeUser: "ChangeUser"
        case .makePasswordReset: "MakePasswordReset"
        case .resetPassword: "ResetPassword"
        case .deleteAccount: "DeleteAccount"
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
        case .clusterStatus: "ClusterStatus"
        case .changeMembers: "ChangeMembers"
        case .transferLeadership: "TransferLeadership"
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
    indirect case goAway(GoAway)
    /// The session of a SignUp, a SignIn, a GetSession, a ChangePassword or a ResetPassword.
    indirect case session(UserSession)
    /// The sessions of a user.
    case listSessions(ListSessionsResponse)
    /// A token that resets the password of a user, once.
    indirect case passwordReset(PasswordReset)
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
    /// What a node knows of its cluster.
    indirect case clusterStatus(ClusterStatus)
    /// The change that was made.
    case changeMembers(ChangeMembersResponse)
    /// The success of a call that answers with nothing: DeletePost, SignOut, ChangeEmail,
    /// DeleteAccount, EndSession, ChangeUser, Drain, SetLogLevel, TransferLeadership.
    case empty
}

/// What a ClientFrame has on the wire.
package enum ClientFrameShape: MessageShape {
    package static var fieldCount: Int { 45 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .uint32)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .bool)
        case 6: FieldShape(10, .message(HelloRequest.self), .member)
        case 7: FieldShape(11, .message(PingRequest.self), .member)
        case 8: FieldShape(12, .message(CancelRequest.self), .member)
        case 9: FieldShape(18, .message(DeleteAccountRequest.self), .member)
        case 10: FieldShape(19, .message(ResetPasswordRequest.self), .member)
        case 11: FieldShape(20, .message(SignUpRequest.self), .member)
        case 12: FieldShape(21, .message(SignInRequest.self), .member)
        case 13: FieldShape(22, .message(EmptyMessage.self), .member)
        case 14: FieldShape(23, .message(SignOutRequest.self), .member)
        case 15: FieldShape(24, .message(ChangePasswordRequest.self), .member)
        case 16: FieldShape(25, .message(ChangeEmailRequest.self), .member)
        case 17: FieldShape(26, .message(EmptyMessage.self), .member)
        case 18: FieldShape(27, .message(EndSessionRequest.self), .member)
        case 19: FieldShape(28, .message(ChangeUserRequest.self), .member)
        case 20: FieldShape(29, .message(MakePasswordResetRequest.self), .member)
        case 21: FieldShape(30, .message(CreatePostRequest.self), .member)
        case 22: FieldShape(31, .message(GetPostRequest.self), .member)
        case 23: FieldShape(32, .message(BatchGetPostsRequest.self), .member)
        case 24: FieldShape(33, .message(ListPostsRequest.self), .member)
        case 25: FieldShape(34, .message(UpdatePostRequest.self), .member)
        case 26: FieldShape(35, .message(DeletePostRequest.self), .member)
        case 27: FieldShape(36, .message(SyncPostsRequest.self), .member)
        case 28: FieldShape(37, .message(WatchPostsRequest.self), .member)
        case 29: FieldShape(38, .message(GetPostRankRequest.self), .member)
        case 30: FieldShape(39, .message(ImportPostsRequest.self), .member)
        case 31: FieldShape(40, .message(CastVoteRequest.self), .member)
        case 32: FieldShape(41, .message(BatchCastVotesRequest.self), .member)
        case 33: FieldShape(42, .message(MarkPostsRequest.self), .member)
        case 34: FieldShape(50, .message(EmptyMessage.self), .member)
        case 35: FieldShape(51, .message(EmptyMessage.self), .member)
        case 36: FieldShape(53, .message(CreateFeedRequest.self), .member)
        case 37: FieldShape(54, .message(EmptyMessage.self), .member)
        case 38: FieldShape(55, .message(CorrectTimesRequest.self), .member)
        case 39: FieldShape(56, .message(EmptyMessage.self), .member)
        case 40: FieldShape(57, .message(SetLogLevelRequest.self), .member)
        case 41: FieldShape(58, .message(DeletePostsRequest.self), .member)
        case 42: FieldShape(70, .message(ClusterStatusRequest.self), .member)
        case 43: FieldShape(71, .message(ChangeMembersRequest.self), .member)
        default: FieldShape(72, .message(TransferLeadershipRequest.self), .member)
        }
    }
}

extension Request {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    init?(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        switch tree.member(node) {
        case 40:
            self = try .castVote(tree.body(node, 31))
        case 10:
            self = try .hello(tree.body(node, 6))
        case 11:
            self = try .ping(tree.body(node, 7))
        case 12:
            self = try .cancel(tree.body(node, 8))
        case 20:
            self = try .signUp(tree.body(node, 11))
        case 21:
            self = try .signIn(tree.body(node, 12))
        case 22:
            try tree.rejectFieldZero(tree.child(node, 13))
            self = .getSession
        case 23:
            self = try .signOut(tree.body(node, 14))
        case 24:
            self = try .changePassword(tree.body(node, 15))
        case 25:
            self = try .changeEmail(tree.body(node, 16))
        case 26:
            try tree.rejectFieldZero(tree.child(node, 17))
            self = .listSessions
        case 27:
            self = try .endSession(tree.body(node, 18))
        case 28:
            self = try .changeUser(tree.body(node, 19))
        case 29:
            self = try .makePasswordReset(tree.body(node, 20))
        case 19:
            self = try .resetPassword(tree.body(node, 10))
        case 18:
            self = try .deleteAccount(tree.body(node, 9))
        case 30:
            self = try .createPost(tree.body(node, 21))
        case 31:
            self = try .getPost(tree.body(node, 22))
        case 32:
            self = try .batchGetPosts(tree.body(node, 23))
        case 33:
            self = try .listPosts(tree.body(node, 24))
        case 34:
            self = try .updatePost(tree.body(node, 25))
        case 35:
            self = try .deletePost(tree.body(node, 26))
        case 36:
            self = try .syncPosts(tree.body(node, 27))
        case 37:
            self = try .watchPosts(tree.body(node, 28))
        case 38:
            self = try .getPostRank(tree.body(node, 29))
        case 39:
            self = try .importPosts(tree.body(node, 30))
        case 41:
            self = try .batchCastVotes(tree.body(node, 32))
        case 42:
            self = try .markPosts(tree.body(node, 33))
        case 50:
            try tree.rejectFieldZero(tree.child(node, 34))
            self = .listFeeds
        case 51:
            try tree.rejectFieldZero(tree.child(node, 35))
            self = .getServerStats
        case 53:
            self = try .createFeed(tree.body(node, 36))
        case 54:
            try tree.rejectFieldZero(tree.child(node, 37))
            self = .backup
        case 55:
            self = try .correctTimes(tree.body(node, 38))
        case 56:
            try tree.rejectFieldZero(tree.child(node, 39))
            self = .drain
        case 57:
            self = try .setLogLevel(tree.body(node, 40))
        case 58:
            self = try .deletePosts(tree.body(node, 41))
        case 70:
            self = try .clusterStatus(tree.body(node, 42))
        case 71:
            self = try .changeMembers(tree.body(node, 43))
        case 72:
            self = try .transferLeadership(tree.body(node, 44))
        default:
            return nil
        }
    }

    /// Writes the member of the oneof.
    func write(to writer: inout MessageWriter) {
        switch self {
        case .castVote(let value): writer.message(40, value)
        case .hello(let value): writer.message(10, value)
        case .ping(let value): writer.message(11, value)
        case .cancel(let value): writer.message(12, value)
        case .signUp(let value): writer.message(20, value)
        case .signIn(let value): writer.message(21, value)
        case .getSession: writer.empty(22)
        case .signOut(let value): writer.message(23, value)
        case .changePassword(let value): writer.message(24, value)
        case .changeEmail(let value): writer.message(25, value)
        case .listSessions: writer.empty(26)
        case .endSession(let value): writer.message(27, value)
        case .changeUser(let value): writer.message(28, value)
        case .makePasswordReset(let value): writer.message(29, value)
        case .resetPassword(let value): writer.message(19, value)
        case .deleteAccount(let value): writer.message(18, value)
        case .createPost(let value): writer.message(30, value)
        case .getPost(let value): writer.message(31, value)
        case .batchGetPosts(let value): writer.message(32, value)
        case .listPosts(let value): writer.message(33, value)
        case .updatePost(let value): writer.message(34, value)
        case .deletePost(let value): writer.message(35, value)
        case .syncPosts(let value): writer.message(36, value)
        case .watchPosts(let value): writer.message(37, value)
        case .getPostRank(let value): writer.message(38, value)
        case .importPosts(let value): writer.message(39, value)
        case .batchCastVotes(let value): writer.message(41, value)
        case .markPosts(let value): writer.message(42, value)
        case .listFeeds: writer.empty(50)
        case .getServerStats: writer.empty(51)
        case .createFeed(let value): writer.message(53, value)
        case .backup: writer.empty(54)
        case .correctTimes(let value): writer.message(55, value)
        case .drain: writer.empty(56)
        case .setLogLevel(let value): writer.message(57, value)
        case .deletePosts(let value): writer.message(58, value)
        case .clusterStatus(let value): writer.message(70, value)
        case .changeMembers(let value): writer.message(71, value)
        case .transferLeadership(let value): writer.message(72, value)
        }
    }
}

/// What a ServerFrame has on the wire.
package enum ServerFrameShape: MessageShape {
    package static var fieldCount: Int { 30 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .message(Status.self))
        case 3: FieldShape(4, .bool)
        case 4: FieldShape(5, .message(CallTimes.self))
        case 5: FieldShape(10, .message(HelloResponse.self), .member)
        case 6: FieldShape(11, .message(PingResponse.self), .member)
        case 7: FieldShape(13, .message(GoAway.self), .member)
        case 8: FieldShape(20, .message(UserSession.self), .member)
        case 9: FieldShape(26, .message(ListSessionsResponse.self), .member)
        case 10: FieldShape(29, .message(PasswordReset.self), .member)
        case 11: FieldShape(30, .message(Post.self), .member)
        case 12: FieldShape(32, .message(BatchGetPostsResponse.self), .member)
        case 13: FieldShape(33, .message(ListPostsResponse.self), .member)
        case 14: FieldShape(36, .message(SyncPostsResponse.self), .member)
        case 15: FieldShape(37, .message(WatchPostsEvent.self), .member)
        case 16: FieldShape(38, .message(PostRank.self), .member)
        case 17: FieldShape(39, .message(ImportPostsResponse.self), .member)
        case 18: FieldShape(40, .message(CastVoteResponse.self), .member)
        case 19: FieldShape(41, .message(BatchCastVotesResponse.self), .member)
        case 20: FieldShape(42, .message(MarkPostsResponse.self), .member)
        case 21: FieldShape(50, .message(ListFeedsResponse.self), .member)
        case 22: FieldShape(51, .message(ServerStats.self), .member)
        case 23: FieldShape(53, .message(Feed.self), .member)
        case 24: FieldShape(54, .message(BackupResponse.self), .member)
        case 25: FieldShape(55, .message(CorrectTimesResponse.self), .member)
        case 26: FieldShape(58, .message(DeletePostsResponse.self), .member)
        case 27: FieldShape(60, .message(EmptyMessage.self), .member)
        case 28: FieldShape(70, .message(ClusterStatus.self), .member)
        default: FieldShape(71, .message(ChangeMembersResponse.self), .member)
        }
    }
}

extension Response {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    init?(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        switch tree.member(node) {
        case 40:
            self = try .castVote(tree.body(node, 18))
        case 10:
            self = try .hello(tree.body(node, 5))
        case 11:
            self = try .ping(tree.body(node, 6))
        case 13:
            self = try .goAway(tree.body(node, 7))
        case 20:
            self = try .session(tree.body(node, 8))
        case 26:
            self = try .listSessions(tree.body(node, 9))
        case 29:
            self = try .passwordReset(tree.body(node, 10))
        case 30:
            self = try .post(tree.body(node, 11))
        case 32:
            self = try .batchGetPosts(tree.body(node, 12))
        case 33:
            self = try .listPosts(tree.body(node, 13))
        case 36:
            self = try .syncPosts(tree.body(node, 14))
        case 37:
            self = try .watchPosts(tree.body(node, 15))
        case 38:
            self = try .postRank(tree.body(node, 16))
        case 39:
            self = try .importPosts(tree.body(node, 17))
        case 41:
            self = try .batchCastVotes(tree.body(node, 19))
        case 42:
            self = try .markPosts(tree.body(node, 20))
        case 50:
            self = try .listFeeds(tree.body(node, 21))
        case 51:
            self = try .serverStats(tree.body(node, 22))
        case 53:
            self = try .feed(tree.body(node, 23))
        case 54:
            self = try .backup(tree.body(node, 24))
        case 55:
            self = try .correctTimes(tree.body(node, 25))
        case 58:
            self = try .deletePosts(tree.body(node, 26))
        case 70:
            self = try .clusterStatus(tree.body(node, 28))
        case 71:
            self = try .changeMembers(tree.body(node, 29))
        case 60:
            try tree.rejectFieldZero(tree.child(node, 27))
            self = .empty
        default:
            return nil
        }
    }

    /// Writes the member of the oneof.
    func write(to writer: inout MessageWriter) {
        switch self {
        case .castVote(let value): writer.message(40, value)
        case .hello(let value): writer.message(10, value)
        case .ping(let value): writer.message(11, value)
        case .goAway(let value): writer.message(13, value)
        case .session(let value): writer.message(20, value)
        case .listSessions(let value): writer.message(26, value)
        case .passwordReset(let value): writer.message(29, value)
        case .post(let value): writer.message(30, value)
        case .batchGetPosts(let value): writer.message(32, value)
        case .listPosts(let value): writer.message(33, value)
        case .syncPosts(let value): writer.message(36, value)
        case .watchPosts(let value): writer.message(37, value)
        case .postRank(let value): writer.message(38, value)
        case .importPosts(let value): writer.message(39, value)
        case .batchCastVotes(let value): writer.message(41, value)
        case .markPosts(let value): writer.message(42, value)
        case .listFeeds(let value): writer.message(50, value)
        case .serverStats(let value): writer.message(51, value)
        case .feed(let value): writer.message(53, value)
        case .backup(let value): writer.message(54, value)
        case .correctTimes(let value): writer.message(55, value)
        case .deletePosts(let value): writer.message(58, value)
        case .clusterStatus(let value): writer.message(70, value)
        case .changeMembers(let value): writer.message(71, value)
        case .empty: writer.empty(60)
        }
    }
}
