import FeedProto

/// The calls that tasks have made and the client's loop has not taken yet.
typealias CallInbox = Inbox<InboxCall>

/// A call, its token, and the task that waits for its end.
struct InboxCall: Sendable {
    let token: UInt64
    let task: CallTask
    let request: Request
    let minimumRevision: UInt64
    let actingUserID: UInt64
    let timeout: Duration
}
