internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// CorrectTimes: operators correct the posts that a wrong clock has stamped.
extension AdministrationCalls {
    /// Finds posts that lie ahead of the clock, some in each call, and corrects them on request.
    func correctTimes(
        _ request: CorrectTimesRequest,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        let now = environment.context.clock.now()
        let jump = environment.context.clock.jumpMilliseconds
        guard jump == 0 else { throw .clockJumped(by: jump) }
        let latest =
            now + environment.context.limits.maximumImportedTimeLead.millisecondsRoundedDown
        let time = request.timeMilliseconds == 0 ? now : request.timeMilliseconds
        guard (0...latest).contains(time) else { throw .badCorrection(time, latest: latest) }
        guard request.appliesCorrection else {
            return answer(postsAhead(of: latest, request, correctingTo: nil), at: now)
        }
        return try environment.changeLog.transaction { () throws(Status) -> Answer in
            // As for an import: the entries that all loops log after their admission fit into a record.
            let byteCount = environment.context.limits.longestCorrectionByteCount
            guard environment.context.longTransactionRoom.reserve(byteCount) else {
                throw .journalBehind
            }
            defer {
                environment.changeLog.countWaitingBytes()
                environment.context.longTransactionRoom.release(byteCount)
            }
            try environment.admitChange()
            let found = postsAhead(of: latest, request, correctingTo: time)
            for post in found.refreshDue { answers.refreshLater(stripeOf: post) }
            return answer(found, at: now)
        }
    }

    private func postsAhead(
        of latest: Int64,
        _ request: CorrectTimesRequest,
        correctingTo time: Int64?
    ) -> PostsAhead {
        let limit = environment.context.limits.maximumCorrectedPostCount
        return environment.store.postsAhead(
            of: latest,
            behind: PostID(rawValue: request.afterID),
            idCount: UInt64(environment.context.limits.correctedIDCount),
            postCount: request.limit == 0 ? limit : min(Int(request.limit), limit),
            textByteCount: environment.context.limits.correctedTextByteCount,
            correctingTo: time,
            sink: environment.changeLog
        )
    }

    private func answer(_ found: PostsAhead, at now: Int64) -> Answer {
        let posts = found.posts.map { post in
            PostTimes(
                id: post.id.rawValue,
                feed: environment.store.policy(of: post.feed)?.name ?? "",
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
        return .response(
            .correctTimes(response),
            revision: max(environment.store.revision, found.revision)
        )
    }
}

extension Status {
    /// The new time of the posts is below 0, or lies ahead itself.
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
