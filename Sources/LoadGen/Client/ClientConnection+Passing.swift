import FeedProto

/// Answers that pass those to earlier requests.
extension ClientConnection {
    /// The request of an answer that passes others: a service whose disk hangs refuses calls, and answers
    /// pings, before it answers changes that it has executed.
    @inline(never)
    func passingRequest(
        _ id: UInt64,
        _ mayPass: Bool
    ) throws(ProtocolViolation) -> InFlightRequest {
        guard mayPass, (headID..<nextID).contains(id) else {
            throw .outOfOrder(received: id, due: headID)
        }
        let request = worker.inFlight[index, id]
        guard !request.marks.contains(.answered) else { throw .unasked(id) }
        var passed = request
        passed.operation = nil
        passed.marks = .answered
        worker.inFlight[index, id] = passed
        hasPassed = true
        return request
    }

    /// Moves on to the oldest request without an answer.
    @inline(never)
    func skipAnswered() {
        while isWaiting, worker.inFlight[index, headID].marks.contains(.answered) { headID &+= 1 }
        if !isWaiting { hasPassed = false }
    }
}

extension ServerFrame {
    /// Whether the answer may come before those to earlier requests.
    var passesOthers: Bool {
        if case .ping = response { return true }
        return status?.code == .unavailable
    }
}
