import FeedProto

/// Requests of one vote and of many: how many operations a request is, and what is known of each.
///
/// Where votes leave in batches, the argument of a vote's flight is its place in `batches`; else it is
/// the number of the vote itself.
extension Worker {
    /// Whether votes leave in batches.
    @inline(__always)
    var isBatching: Bool { batches.capacity > 1 }

    /// How many operations a request is: the votes of a batch, else one.
    @inline(__always)
    func weight(_ flight: Flight) -> Int {
        isBatching && flight.operation == .vote ? batches.count(flight.argument) : 1
    }

    /// Fills the batch that begins with a vote: from the schedule, else by what `next` draws.
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

    /// Takes note of a request that was answered with an error.
    func fail(_ flight: Flight) {
        eachVote(flight) { ledger.fail(vote: $0) }
    }

    /// Takes note of a request of client number `client` that stays without an answer.
    func forget(_ flight: Flight, client: Int) {
        if flight.operation == .create { ledger.forget(create: flight.argument, client: client) }
        eachVote(flight) { ledger.forget(vote: $0) }
    }

    /// Takes note that nothing more will be known of a request.
    @inline(__always)
    func release(_ flight: Flight) {
        guard isBatching, flight.operation == .vote else { return }
        batches.release(flight.argument)
    }

    private func eachVote(_ flight: Flight, _ body: (UInt32) -> Void) {
        guard flight.operation == .vote else { return }
        guard isBatching else { return body(flight.argument) }
        for item in 0..<batches.count(flight.argument) {
            body(batches.vote(item, of: flight.argument))
        }
    }
}
