package import FeedProto

/// Frames of a service, mutated and decoded as a client reads them.
package final class MutatedAnswers {
    private var mutation: WireMutation
    private var decoder = MessageDecoder()

    /// Mutations that follow from a seed.
    package init(seed: UInt64) { mutation = WireMutation(seed: seed) }

    /// A frame with a mutation of a response, in answer to a frame.
    ///
    /// - Parameters:
    ///   - response: The response of a real service.
    ///   - id: The frame that is answered; mostly the mutated frame names it.
    ///   - hasMore: Whether the frame is an event of a watch.
    /// - Returns: The frame; nil where a client cannot decode it.
    package func next(
        _ response: Response,
        to id: UInt64,
        hasMore: Bool = false
    ) -> ServerFrame? {
        let frame = ServerFrame(id: id, revision: 90, response: response, hasMore: hasMore)
        return decode(frame)
    }

    /// A frame with a mutation of a refusal.
    package func next(_ status: Status, to id: UInt64) -> ServerFrame? {
        decode(ServerFrame(id: id, revision: 90, status: status))
    }

    private func decode(_ frame: ServerFrame) -> ServerFrame? {
        guard let bytes = try? frame.encoded() else { return nil }
        let body = mutation.mutate(Array(bytes.dropFirst(FrameHeader.byteCount)))
        let isVote = unsafe VoteAnswerFrame(scanning: body.span.bytes, in: 0..<body.count)
        var decoded = isVote.map { ServerFrame($0) } ?? (try? decoder.decodeServerFrame(body))
        // A client drops the connection at a frame that nobody asked for, so few ids are mutated.
        if let id = decoded?.id, id & 7 != 0 { decoded?.id = frame.id }
        return decoded
    }
}
