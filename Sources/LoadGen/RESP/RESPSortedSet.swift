/// The sorted set that stands for the posts of a run at redis-server, and the commands on it.
///
/// Its key is random and the run's own, so the members begin with the score 0 and nothing else is
/// touched. The member of post n is `p` and 12 digits, as `redis-benchmark` writes
/// `p__rand_int__`.
struct RESPSortedSet: Sendable, Equatable {
    let key: String
    /// The command of a vote, up to the digits of its member.
    let voteHead: [UInt8]

    init() {
        let digits = String(UInt32.random(in: 0...(.max)), radix: 16)
        key = "posts:" + String(repeating: "0", count: 8 - digits.count) + digits
        let vote = Self.command(["ZINCRBY", key, "1", Self.member(0)])
        voteHead = Array(vote.dropLast(Self.digitCount + 2))
    }

    static func member(_ post: UInt64) -> String {
        let digits = String(post)
        return "p" + String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// The number of the post whose member has these bytes; nil for any other member.
    static func post(_ member: [UInt8]) -> UInt64? {
        guard member.count == digitCount + 1, member.first == 0x70 else { return nil }
        return UInt64(String(decoding: member.dropFirst(), as: UTF8.self))
    }

    func add(_ posts: Range<UInt64>) -> [UInt8] {
        Self.command(["ZADD", key] + posts.flatMap { ["0", Self.member($0)] })
    }

    func score(_ post: UInt64) -> [UInt8] {
        Self.command(["ZSCORE", key, Self.member(post)])
    }

    /// Asks for `count` posts, best first, from place `start` on.
    func page(from start: Int, count: Int) -> [UInt8] {
        Self.command(["ZREVRANGE", key, "\(start)", "\(start + count - 1)", "WITHSCORES"])
    }

    var count: [UInt8] { Self.command(["ZCARD", key]) }

    /// Removes the set; the server frees it in the background.
    var remove: [UInt8] { Self.command(["UNLINK", key]) }

    private static let digitCount = 12

    /// A command as an array of bytes in RESP2.
    private static func command(_ words: [String]) -> [UInt8] {
        var text = "*\(words.count)\r\n"
        for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
        return Array(text.utf8)
    }
}

/// A part of a sorted set as `ZREVRANGE … WITHSCORES` answers it: best first.
struct RESPPage: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var post: UInt64
        var score: Int64

        /// Whether this entry may stand directly before `next`: higher score first, then, as
        /// redis-server has it, the greater member.
        func precedes(_ next: Entry) -> Bool {
            score != next.score ? score > next.score : post > next.post
        }
    }

    let entries: [Entry]

    /// The page of a reply; nil where the reply is not one with members of a run.
    init?(_ reply: RESPValue) {
        guard case .array(let values) = reply, values.count.isMultiple(of: 2) else { return nil }
        var entries: [Entry] = []
        for place in stride(from: 0, to: values.count, by: 2) {
            guard case .bytes(let member) = values[place], let score = values[place + 1].score,
                let post = RESPSortedSet.post(member)
            else { return nil }
            entries.append(Entry(post: post, score: score))
        }
        self.entries = entries
    }
}
