/// The last score that each connection saw of the posts it voted on most recently.
///
/// On one connection the scores of one post must rise with each vote up. Remembering every post of
/// every connection would take gigabytes where both are many, so each connection has 16 places: a
/// post takes the place of its number modulo 16 and replaces the post there. A forgotten post is
/// not checked; a remembered score is never wrong.
@safe package struct ScoreMemory: ~Copyable {
    private struct Place {
        var post: UInt32
        var score: Int64
    }

    private static let placeCount = 16
    private let places: UnsafeMutableBufferPointer<Place>
    private let count: Int

    /// Empty memories for `clientCount` connections.
    package init(clientCount: Int) {
        count = clientCount * Self.placeCount
        unsafe places = .allocate(capacity: count)
        unsafe places.initialize(repeating: Place(post: .max, score: 0))
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Remembers `score` and returns whether it rose since this connection last saw the post.
    @inline(__always)
    package func rises(client: Int, post: UInt32, score: Int64) -> Bool {
        let last = replace(client, Place(post: post, score: score))
        return last.post != post || score > last.score
    }

    /// Remembers `score` and returns whether it fell since this connection last saw the post.
    ///
    /// The answer to a vote that had been executed before carries the current score, which may
    /// equal the score that was seen last.
    package func falls(client: Int, post: UInt32, score: Int64) -> Bool {
        let last = replace(client, Place(post: post, score: score))
        return last.post == post && score < last.score
    }

    @inline(__always)
    private func replace(_ client: Int, _ place: Place) -> Place {
        let index = client &* Self.placeCount &+ Int(place.post) & (Self.placeCount &- 1)
        precondition(index >= 0 && index < count, "No such connection.")
        defer { unsafe places[index] = place }
        return unsafe places[index]
    }
}
