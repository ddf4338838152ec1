/// One request before it is encoded.
package struct PlannedRequest: Sendable, Equatable {
    /// What is asked for.
    package let operation: Operation
    /// The number of a vote; the post of a get; the client's own number of a new post; otherwise 0.
    package let argument: UInt32
    /// The connection's own number of the user who votes; 0 where the connection votes itself.
    package var voter: UInt16 = 0
}

/// All requests of one client, in order: the same seed gives the same requests, byte for byte.
package struct RequestStream: Sendable {
    private let mix: Mix
    private let keys: KeyChoice
    private let voterCount: Int
    private var stream: RandomStream
    private var index: Int
    private var createdCount: UInt32 = 0

    /// The stream of client number `client` of thread number `thread`.
    ///
    /// With `voterCount` above 0 each vote is a ballot of one of that many users.
    package init(
        mix: Mix,
        keys: KeyChoice,
        seed: UInt64,
        thread: Int,
        client: Int,
        voterCount: Int = 0
    ) {
        self.mix = mix
        self.keys = keys
        self.voterCount = voterCount
        stream = RandomStream(seed: seed, thread: thread, client: client)
        // Clients that go through the posts in order start at different posts.
        index = client
    }

    /// The number of one more vote of the batch that `next()` began.
    package mutating func nextVote() -> UInt32 {
        var stream = stream
        defer { self.stream = stream }
        index += 1
        return voteNumber(&stream, index: index - 1)
    }

    /// The next request.
    @inline(__always)
    package mutating func next() -> PlannedRequest {
        // With this copy a draw need not copy all else: it changes the stream and reads the rest.
        var stream = stream
        defer { self.stream = stream }
        let operation = mix.next(&stream)
        index &+= 1
        guard operation == .vote else { return other(operation, &stream) }
        return vote(&stream, index: index &- 1)
    }

    /// The next `count` requests of a mix that has votes only.
    @inline(__always)
    package mutating func nextVotes(_ count: Int, _ body: (PlannedRequest) -> Void) {
        precondition(mix.hasOnlyVotes, "Another operation may be next.")
        var stream = stream
        for item in 0..<count { body(vote(&stream, index: index &+ item)) }
        self.stream = stream
        index &+= count
    }

    @inline(__always)
    private func vote(_ stream: inout RandomStream, index: Int) -> PlannedRequest {
        let vote = voteNumber(&stream, index: index)
        guard voterCount > 0 else { return PlannedRequest(operation: .vote, argument: vote) }
        let voter = UInt16(stream.nextIndex(below: voterCount))
        return PlannedRequest(operation: .vote, argument: vote, voter: voter)
    }

    @inline(never)
    private mutating func other(
        _ operation: Operation,
        _ stream: inout RandomStream
    ) -> PlannedRequest {
        switch operation {
        case .vote: preconditionFailure("Votes are drawn elsewhere.")
        case .get:
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

    @inline(__always)
    private func voteNumber(_ stream: inout RandomStream, index: Int) -> UInt32 {
        // A uniform choice is drawn here, without a call of `keys`.
        let next =
            keys.isUniform
            ? stream.nextIndex(below: keys.postCount) : keys.next(&stream, index: index)
        let post = UInt32(truncatingIfNeeded: next)
        return voterCount > 0 ? Tallied.number(.next(&stream), on: post) : post
    }
}

/// A repeatable stream of random numbers: the same seed and names give the same numbers.
///
/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014):
/// number `i` is a mix of the start and `i`, so the stream is hash(seed, thread, client, index).
package struct RandomStream: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The stream of one client of one thread; `purpose` separates the streams of one client.
    package init(seed: UInt64, thread: Int, client: Int, purpose: Purpose = .requests) {
        var hash = Self.mix(seed &+ purpose.rawValue)
        hash = Self.mix(hash ^ UInt64(truncatingIfNeeded: thread))
        state = Self.mix(hash ^ UInt64(truncatingIfNeeded: client))
    }

    /// The purposes of numbers; each has streams of its own.
    package enum Purpose: UInt64, Sendable {
        /// Which request comes next.
        case requests = 0x52
        /// When it comes.
        case arrivals = 0x41
        /// Which post has which rank.
        case scatter = 0x53
        /// In which order planned votes are cast.
        case schedule = 0x56
        /// In which order two servers are measured.
        case slices = 0x4C
        /// How long a connection lives.
        case lives = 0x6C
        /// How long clients think.
        case thoughts = 0x54
        /// In which order the runs of a series are made.
        case trials = 0x53_45
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// A number in 0 ..< 1 with 53 random bits.
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A number in 0 ..< `bound`, by the high word of a product (bias below `bound` / 2^64).
    package mutating func nextIndex(below bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// The finaliser of SplitMix64: a bijection that spreads every bit of its input over all.
    package static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
