/// One request before it is encoded.
package struct PlannedRequest: Sendable, Equatable {
    /// What is asked for.
    package let operation: Operation
    /// The post of a vote or a get; the client's own number of a new post; otherwise 0.
    package let argument: UInt32
}

/// All requests of one client, in order: the same seed gives the same requests, byte for byte.
package struct RequestStream: Sendable {
    private let mix: Mix
    private let keys: KeyChoice
    private var stream: RandomStream
    private var index: Int
    private var createdCount: UInt32 = 0

    /// The stream of client number `client` of thread number `thread`.
    package init(mix: Mix, keys: KeyChoice, seed: UInt64, thread: Int, client: Int) {
        self.mix = mix
        self.keys = keys
        stream = RandomStream(seed: seed, thread: thread, client: client)
        // Clients that go through the posts in order start at different posts.
        index = client
    }

    /// The post of one more vote of the batch that `next()` began.
    package mutating func nextVote() -> UInt32 {
        index += 1
        return UInt32(keys.next(&stream, index: index - 1))
    }

    /// The next request.
    package mutating func next() -> PlannedRequest {
        let operation = mix.next(&stream)
        index += 1
        switch operation {
        case .vote, .get:
            return PlannedRequest(
                operation: operation,
                argument: UInt32(keys.next(&stream, index: index - 1))
            )
        case .create:
            createdCount += 1
            return PlannedRequest(operation: operation, argument: createdCount)
        case .list, .page:
            return PlannedRequest(operation: operation, argument: 0)
        }
    }
}
