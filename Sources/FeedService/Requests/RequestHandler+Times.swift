internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// CorrectTimes: posts that a wrong clock has stamped, for operators.
extension RequestHandler {
    /// Finds posts that lie ahead of the clock, a part of them a call, and corrects them if told to.
    mutating func correctTimes(
        _ request: CorrectTimesRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try requireService(caller)
        let now = context.clock.now()
        let jump = context.clock.jumpMilliseconds
        guard jump == 0 else { throw .clockJumped(by: jump) }
        let latest = now + context.limits.maximumImportedTimeLead.wholeMilliseconds
        let time = request.timeMilliseconds == 0 ? now : request.timeMilliseconds
        guard (0...latest).contains(time) else { throw .badCorrection(time, latest: latest) }
        guard request.appliesCorrection else {
            return answer(postsAhead(of: latest, request, correctingTo: nil), at: now)
        }
        changeLog.lock()
        defer { changeLog.unlock() }
        // As an import does: what all loops log behind their looks at the admission fits a record.
        let byteCount = context.limits.longestCorrectionByteCount
        guard context.importRoom.reserve(byteCount) else { throw .journalBehind }
        defer {
            changeLog.countWaitingBytes()
            context.importRoom.release(byteCount)
        }
        try admitChange()
        let found = postsAhead(of: latest, request, correctingTo: time)
        for post in found.refreshDue { refreshLater(stripeOf: post) }
        return answer(found, at: now)
    }

    private func postsAhead(
        of latest: Int64,
        _ request: CorrectTimesRequest,
        correctingTo time: Int64?
    ) -> PostsAhead {
        let limit = context.limits.maximumCorrectedPostCount
        return store.postsAhead(
            of: latest,
            behind: PostID(rawValue: request.afterID),
            idCount: UInt64(context.limits.correctedIDCount),
            postCount: request.limit == 0 ? limit : min(Int(request.limit), limit),
            textByteCount: context.limits.correctedTextByteCount,
            correctingTo: time,
            sink: changeLog
        )
    }

    private func answer(_ found: PostsAhead, at now: Int64) -> Answer {
        let posts = found.posts.map { post in
            PostTimes(
                id: post.id.rawValue,
                feed: store.policy(of: post.feed)?.name ?? "",
                title: post.title,
                createTimeMilliseconds: post.createTimeMilliseconds,
                updateTimeMilliseconds: post.updateTimeMilliseconds
            )
        }
        let response = CorrectTimesResponse(
            posts: posts,
            nextAfterID: found.next?.rawValue ?? 0,
            serverTimeMilliseconds: now
        )
        return .response(.correctTimes(response), revision: max(store.revision, found.revision))
    }
}

extension Status {
    /// The time to correct posts to is no time, or lies ahead itself.
    fileprivate static func badCorrection(_ time: Int64, latest: Int64) -> Status {
        .invalid(
            .badTime,
            field: "time_ms",
            "time_ms is \(time); a time is 0 to \(latest).",
            limit: UInt64(bitPattern: latest),
            actual: UInt64(bitPattern: time)
        )
    }
}
