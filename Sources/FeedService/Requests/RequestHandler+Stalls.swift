internal import FeedProto

/// What is answered while a commit stands still.
///
/// Nothing may leave that shows what is not durable. So calls are refused, but for those whose answers
/// show nothing of the state, and the answers that are held already are divided.
extension RequestHandler {
    /// Divides the held bytes of a write.
    ///
    /// The answer to a change that was executed stays held. A call without an effect is refused, and
    /// Hello and Ping are answered.
    ///
    /// - Parameters:
    ///   - bytes: The frames.
    ///   - runs: The calls that they answer.
    /// - Returns: What stays held, and what is sent ahead.
    mutating func divide(_ bytes: RawSpan, of runs: ArraySlice<AnsweredCalls.Run>) -> HeldDivision {
        var division = HeldDivision()
        // The answer to a sign-in is alone in its write, and its token is not to be copied.
        guard let first = runs.first, !first.method.isSignIn else { return division }
        var run = runs.startIndex
        var offset = 0
        while let body = try? scanner.nextBody(in: bytes, at: offset) {
            var early: [UInt8]?
            if let answer = try? decoder.decodeServerFrame(bytes.extracting(body)) {
                while run + 1 < runs.endIndex, runs[run + 1].firstID <= answer.id { run += 1 }
                early = self.early(answer, to: runs[run].method)
            }
            if let early {
                division.ahead += early
            } else {
                division.kept.append(offset..<body.upperBound)
            }
            offset = body.upperBound
        }
        return division
    }

    /// What is sent ahead in place of a held answer; nil where that stays held.
    private func early(_ answer: ServerFrame, to method: Method) -> [UInt8]? {
        guard answer.id > 0 else { return nil }
        switch answer.response {
        // What Hello says of a channel holds until the connection is lost, durable or not.
        case .hello, .ping:
            return try? ServerFrame(id: answer.id, revision: 0, response: answer.response)
                .encoded()
        default: break
        }
        guard answer.status?.isNotExecuted ?? method.onlyReads else { return nil }
        let status = environment.context.stallRefusal.status
        environment.counters.countError(method, status.reason.rawValue)
        return try? ServerFrame(id: answer.id, revision: 0, status: status).encoded()
    }
}
