import FeedProto

extension Link {
    /// Begins a watch that is shown through a mailbox, and returns what ends it.
    func watch(
        _ request: WatchPostsRequest,
        actingUserID: UInt64,
        _ mailbox: WatchMailbox
    ) -> @Sendable () -> Void {
        let token = takeToken()
        let isTaken = post {
            $0.watch(token, request, actingUserID: actingUserID, mailbox)
        }
        if !isTaken { mailbox.end(.closed) }
        return { [self] in post { $0.cancelWatch(token) } }
    }
}
