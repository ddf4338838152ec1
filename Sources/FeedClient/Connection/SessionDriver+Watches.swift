import FeedProto

/// Watches, each of which is shown through a mailbox.
extension SessionDriver {
    /// Begins a watch with a token of its own.
    func watch(
        _ token: UInt64,
        _ request: WatchPostsRequest,
        actingUserID: UInt64,
        _ mailbox: WatchMailbox
    ) {
        mailboxes[token] = mailbox
        session.watch(token, request, actingUserID: actingUserID)
        proceed()
    }

    /// Ends a watch that its reader gave up.
    func cancelWatch(_ token: UInt64) {
        mailboxes[token] = nil
        session.cancelWatch(token)
        proceed()
    }

    /// Performs a step of a watch.
    func perform(_ step: WatchTable.Step) {
        switch step {
        case .show(let token, let copy): mailboxes[token]?.put(copy)
        case .end(let token, let error): mailboxes.removeValue(forKey: token)?.end(error)
        case .begin(let id, let request, let user):
            send(ClientFrame(id: id, request: .watchPosts(request), actingUserID: user))
        case .cancel(let id, let watchID):
            send(ClientFrame(id: id, request: .cancel(CancelRequest(id: watchID))))
        }
    }

    /// Sends a frame of a watch; a watch whose request does not fit into one ends.
    private func send(_ frame: ClientFrame) {
        guard let wire else { preconditionFailure("A session watches without a connection.") }
        do throws(FrameError) {
            try wire.append(frame)
        } catch {
            // The least limit of a frame has room for Cancel, so this is WatchPosts.
            let limit = wire.maximumFrameByteCount
            session.couldNotBegin(frame.id, FeedClientError(error, limitByteCount: limit))
        }
    }
}
