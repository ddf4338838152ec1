internal import FeedProto

/// How the budget bounds an answer before it is built.
extension Answers {
    /// Takes room for the answer to a read that asks for posts or feeds.
    ///
    /// All other answers are small or belong to changes. They use the room that reads leave free.
    ///
    /// - Throws: OVERLOADED, if too much is held for clients.
    mutating func reserveRoom(for request: Request?) throws(Status) {
        let greatest = min(greatestByteCount(ofAnswerTo: request), encoder.maximumFrameByteCount)
        guard greatest > 0, !room.reserve(greatest) else { return }
        throw .noRoom(limit: environment.context.allReadAnswersByteLimit)
    }

    /// An upper bound of the answer to a read that may be large; 0 for all other calls.
    private func greatestByteCount(ofAnswerTo request: Request?) -> Int {
        let limits = environment.context.limits
        switch request {
        case .getPost:
            return limits.greatestPostByteCount
        case .batchGetPosts(let request):
            return request.ids.count * limits.greatestPostByteCount
        case .listPosts(let request):
            let size =
                request.pageSize == 0 ? limits.defaultPageSize : max(1, Int(request.pageSize))
            return size * limits.greatestPostByteCount
        case .listFeeds, .syncPosts:
            return encoder.maximumFrameByteCount
        default:
            return 0
        }
    }
}

extension Status {
    /// There is no room for the answers of reads.
    fileprivate static func noRoom(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "Answers that clients have not taken, or requests that they have not "
                + "finished, fill the \(limit) bytes that reads may use; this read is refused until "
                + "they are fewer.",
            retryAfterMilliseconds: 1000
        )
    }
}
