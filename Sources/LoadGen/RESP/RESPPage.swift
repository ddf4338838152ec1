/// A part of a sorted set as `ZREVRANGE … WITHSCORES` answers it: best first.
struct RESPPage: Sendable, Equatable {
    /// A member that stands for a post.
    struct Entry: Sendable, Equatable {
        /// The number of the post.
        var post: UInt64
        /// Its score on the page.
        var score: Int64

        /// Whether this entry may stand directly before `next`: higher score first, then, as
        /// redis-server has it, the greater member.
        func precedes(_ next: Entry) -> Bool {
            score != next.score ? score > next.score : post > next.post
        }
    }

    /// The entries in their order.
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
