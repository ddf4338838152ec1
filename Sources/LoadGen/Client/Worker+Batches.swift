import FeedProto

/// Requests of one vote and of many: how many operations a request has, and what is known of each.
///
/// Where votes leave in batches, the argument of a vote's request is its place in `batches`;
/// otherwise it is the number of the vote itself.
extension Worker {
    /// The number of operations of a request: the votes of a batch, otherwise one.
    @inline(__always)
    func weight(_ request: InFlightRequest) -> Int {
        isBatching && request.operation == .vote ? batches.count(request.argument) : 1
    }

    /// Fills the batch that begins with a vote, from the schedule or, without one, from `next`.
    func makeBatch(_ first: UInt32, _ next: () -> UInt32) -> UInt32 {
        let place = batches.take()
        batches.append(first, to: place)
        let rest = batches.capacity - 1
        let count = votesAsScheduled ? min(rest, remainingVoteCount) : rest
        for _ in 0..<count {
            batches.append(votesAsScheduled ? nextScheduled().argument : next(), to: place)
        }
        return place
    }

    /// Records a request that was answered with an error.
    func fail(_ request: InFlightRequest) {
        eachVote(request) { fail($0) }
    }

    /// Records a request of client number `client` that gets no answer.
    func forget(_ request: InFlightRequest, client: Int) {
        if request.operation == .create { counts.forget(create: request.argument, client: client) }
        eachVote(request) { forget($0, of: request, client: client - setup.firstClient) }
    }

    /// Records that nothing more will be known of a request.
    @inline(__always)
    func release(_ request: InFlightRequest) {
        guard isBatching, request.operation == .vote else { return }
        batches.release(request.argument)
    }

    private func eachVote(_ request: InFlightRequest, _ body: (UInt32) -> Void) {
        guard request.operation == .vote else { return }
        guard isBatching else { return body(request.argument) }
        for item in 0..<batches.count(request.argument) {
            body(batches.vote(item, of: request.argument))
        }
    }
}
