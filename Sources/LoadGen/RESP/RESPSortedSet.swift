/// The sorted set that stands for the posts of a run at redis-server, and the commands on it.
///
/// Its key is random and the run's own, so the members begin with the score 0 and nothing else is
/// touched. The member of post n is `p` and 12 digits, as `redis-benchmark` writes
/// `p__rand_int__`.
struct RESPSortedSet: Sendable, Equatable {
    /// The key.
    let key: String
    /// The command of a vote, up to the digits of its member.
    let voteHead: [UInt8]

    /// A set of a new key.
    init() {
        let digits = String(UInt32.random(in: 0...(.max)), radix: 16)
        key = "posts:" + String(repeating: "0", count: 8 - digits.count) + digits
        let vote = Self.command(["ZINCRBY", key, "1", Self.member(0)])
        voteHead = Array(vote.dropLast(Self.digitCount + 2))
    }

    /// The member of post number `post`.
    static func member(_ post: UInt64) -> String {
        let digits = String(post)
        return "p" + String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// The number of the post whose member has these bytes; nil for any other member.
    static func post(_ member: [UInt8]) -> UInt64? {
        guard member.count == digitCount + 1, member.first == 0x70 else { return nil }
        return UInt64(String(decoding: member.dropFirst(), as: UTF8.self))
    }

    /// Adds posts with the score 0.
    func add(_ posts: Range<UInt64>) -> [UInt8] {
        Self.command(["ZADD", key] + posts.flatMap { ["0", Self.member($0)] })
    }

    /// Asks for the score of a post.
    func score(_ post: UInt64) -> [UInt8] {
        Self.command(["ZSCORE", key, Self.member(post)])
    }

    /// Asks for `count` posts, best first, from place `start` on.
    func page(from start: Int, count: Int) -> [UInt8] {
        Self.command(["ZREVRANGE", key, "\(start)", "\(start + count - 1)", "WITHSCORES"])
    }

    /// Asks for the number of posts.
    var count: [UInt8] { Self.command(["ZCARD", key]) }

    /// Removes the set; the server frees it in the background.
    var remove: [UInt8] { Self.command(["UNLINK", key]) }

    /// How many digits a member has.
    static let digitCount = 12

    /// A command as an array of bytes in RESP2.
    private static func command(_ words: [String]) -> [UInt8] {
        var text = "*\(words.count)\r\n"
        for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
        return Array(text.utf8)
    }
}
