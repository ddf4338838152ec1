import Dispatch
import FeedProto
import FeedTestSupport

extension FakeFeed {
    /// The instant now on the monotonic clock, which the load generator reads too.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// How many calls asked for times.
    var timedCallCount: UInt64 { state.withLock { $0.timedCallCount } }

    /// Handles a call that was read at an instant, and adds the times where it asks for them.
    func handle(
        _ frame: ClientFrame,
        on channel: FakeChannels.Key?,
        receivedAt received: UInt64
    ) -> Action {
        guard frame.isTimed else { return handle(frame, on: channel) }
        state.withLock { $0.timedCallCount += 1 }
        let action: Action
        if faults.timed == .refused {
            let refusal = Self.failure(
                frame.id,
                .resourceExhausted,
                .overloaded,
                isNotExecuted: true
            )
            action = .answer(refusal)
        } else {
            action = handle(frame, on: channel)
        }
        if faults.timed == .lost { return .lose }
        let times = faults.timed == .noTimes ? nil : times(receivedAt: received)
        return action.map { spoiled($0, times) }
    }

    private func times(receivedAt received: UInt64) -> CallTimes {
        let offset: UInt64 = faults.timed == .otherClock ? 1 << 60 : 0
        return CallTimes(
            receivedNanoseconds: received + offset,
            executedNanoseconds: Self.now + offset,
            releasedNanoseconds: Self.now + offset
        )
    }

    private func spoiled(_ answer: ServerFrame, _ times: CallTimes?) -> ServerFrame {
        var frame = answer
        frame.times = times
        switch frame.response {
        case .castVote(let vote):
            frame.response = .castVote(spoiled(vote))
        case .batchCastVotes(var batch):
            for index in batch.results.indices {
                batch.results[index].vote = batch.results[index].vote.map { spoiled($0) }
            }
            frame.response = .batchCastVotes(batch)
        default: break
        }
        return frame
    }

    private func spoiled(_ answer: CastVoteResponse) -> CastVoteResponse {
        var vote = answer
        switch faults.timed {
        case .otherPost?: vote.postID += 1
        case .lowScore?: vote.score = 0
        case .otherBallot?: vote.vote = vote.vote == .up ? .down : .up
        case nil, .noTimes?, .otherClock?, .refused?, .lost?: break
        }
        return vote
    }
}

extension FakeFeed.Action {
    /// The same with another answer.
    fileprivate func map(_ change: (ServerFrame) -> ServerFrame) -> Self {
        switch self {
        case .answer(let frame): .answer(change(frame))
        case .answerAfterNext(let frame): .answerAfterNext(change(frame))
        case .answerAndStall(let frame): .answerAndStall(change(frame))
        case .answerAndLeave(let frame): .answerAndLeave(change(frame))
        case .answerHalf(let frame): .answerHalf(change(frame))
        case .silence, .lose, .die: self
        }
    }
}
