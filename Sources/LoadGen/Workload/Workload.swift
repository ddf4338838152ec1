/// The votes and pages that the threads of a run request.
struct Workload: Sendable {
    /// The post of each number of a vote.
    let postIDs: [UInt64]
    let keys: KeyChoice
    /// The votes to cast, of which even numbers are upvotes and odd ones downvotes; nil where votes
    /// are drawn.
    var planned: PlannedVotes?
    /// How many users vote; 0 where the connections vote themselves.
    var voterCount = 0
    /// The set that stands for the posts at redis-server; nil at the feed service.
    var sortedSet: RESPSortedSet?

    /// What the numbers of votes stand for.
    var tallied: Tallied {
        if voterCount > 0 { return .ballots }
        return planned == nil ? .scores : .directions
    }
}

/// What the audit tallies, and so what the numbers of votes stand for.
package enum Tallied: String, Sendable {
    /// Scores, under votes up: number n is post n.
    case scores
    /// Upvotes and downvotes apart: number 2n is the upvotes of post n, and 2n + 1 its downvotes.
    case directions
    /// The ballots of users, which replace one another: number 4n + d is a ballot d on post n.
    case ballots

    package var isSplit: Bool { self != .scores }

    /// What the vote of this number asks for.
    @inline(__always)
    func ballot(_ number: UInt32) -> Ballot {
        switch self {
        case .scores: .up
        case .directions: number & 1 == 1 ? .down : .up
        case .ballots: Ballot(rawValue: UInt8(number & 3)) ?? .clear
        }
    }

    package static func number(_ ballot: Ballot, on post: UInt32) -> UInt32 {
        post << 2 | UInt32(ballot.rawValue)
    }

    /// The account that the vote of this number adds to; nil for one that takes a vote back.
    func account(_ number: UInt32) -> UInt32? {
        guard self == .ballots else { return number }
        switch ballot(number) {
        case .up: return (number >> 2) << 1
        case .down: return (number >> 2) << 1 | 1
        case .clear: return nil
        }
    }
}

/// How often each operation occurs, as `--mix` names it.
package struct Mix: Sendable, Equatable {
    /// The weights, by the operation's raw value; their sum is above 0.
    package let weights: [UInt32]
    private let sum: UInt32
    /// The operation of a mix that has only one, so that nothing needs to be drawn.
    private let only: Operation?

    package static let vote = Mix([.vote: 100])
    /// Mostly reads, as a feed is used: pages 90, votes 9, new posts 1.
    package static let feed = Mix([.page: 90, .vote: 9, .create: 1])

    /// A mix of `weights`, of which one must be above 0.
    package init(_ weights: [Operation: UInt32]) {
        self.weights = Operation.allCases.map { weights[$0] ?? 0 }
        sum = self.weights.reduce(0, +)
        precondition(sum > 0, "A mix needs an operation.")
        let used = Operation.allCases.filter { weights[$0, default: 0] > 0 }
        only = used.count == 1 ? used[0] : nil
    }

    package var operations: [Operation] {
        Operation.allCases.filter { weights[Int($0.rawValue)] > 0 }
    }

    @inline(__always)
    package var hasOnlyVotes: Bool { only == .vote }

    @inline(__always)
    package func next(_ stream: inout RandomStream) -> Operation {
        only ?? draw(&stream)
    }

    private func draw(_ stream: inout RandomStream) -> Operation {
        var remaining = UInt32(stream.nextIndex(below: Int(sum)))
        for operation in Operation.allCases {
            let weight = weights[Int(operation.rawValue)]
            if remaining < weight { return operation }
            remaining -= weight
        }
        preconditionFailure("A draw below the sum of the weights falls on an operation.")
    }
}

extension Mix: CustomStringConvertible {
    /// The text that `--mix` takes.
    package var description: String {
        operations.map { "\($0.name)=\(weights[Int($0.rawValue)])" }.joined(separator: ",")
    }

    /// The mix that `text` names (a preset, or `vote=95,page=5`), or nil.
    package init?(parsing text: String) {
        switch text {
        case "vote": self = .vote
        case "feed": self = .feed
        default:
            var weights: [Operation: UInt32] = [:]
            for item in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
                let parts = item.split(separator: "=", omittingEmptySubsequences: false)
                guard parts.count == 2, let operation = Operation(name: parts[0]),
                    let weight = UInt32(parts[1]), weight <= Self.maximumWeight,
                    weights.updateValue(weight, forKey: operation) == nil
                else { return nil }
            }
            guard weights.values.contains(where: { $0 > 0 }) else { return nil }
            self.init(weights)
        }
    }

    private static let maximumWeight: UInt32 = 1_000_000
}

/// What a request asks the service to do, as `--mix` names it.
package enum Operation: UInt8, Sendable, CaseIterable {
    case vote
    case create
    /// The first page of the feed, best first.
    case list
    /// The page after the one this client saw last, or a first page where there is none.
    case page
    case get

    /// Whether it changes the service's state, so that executing it twice is not the same as once.
    package var isChange: Bool { self == .vote || self == .create }

    /// The name in `--mix`, in reports and in file names.
    package var name: String {
        switch self {
        case .vote: "vote"
        case .create: "create"
        case .list: "list"
        case .page: "page"
        case .get: "get"
        }
    }

    package init?(name: some StringProtocol) {
        guard let operation = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = operation
    }
}

package struct PlannedRequest: Sendable, Equatable {
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

/// The texts of the posts a run creates.
package enum PostText {
    /// The title of post `number` of `maker`.
    ///
    /// It starts with a scattered number in base 36, because orders compare the first 8 bytes of
    /// titles, and equal ones would cost more than real titles do.
    package static func title(maker: Int, number: Int) -> String {
        let name = UInt64(truncatingIfNeeded: maker) << 32 | UInt64(truncatingIfNeeded: number)
        let digits = String(RandomStream.mix(name), radix: 36)
        return "\(digits.prefix(8)) \(titleMark) \(maker).\(number)"
    }

    /// The text of every post, long enough for feeds that want one and short enough for all.
    package static let body = "A post that the load generator made."

    /// Whether a post with this title may come from a load generator.
    package static func isTitle(_ title: String) -> Bool { title.contains(" \(titleMark) ") }

    /// The maker number of the posts that are created before the run.
    package static let prefillMaker = 0

    private static let titleMark = "loadgen post"
}
