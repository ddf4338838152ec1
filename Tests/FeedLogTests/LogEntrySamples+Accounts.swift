import FeedAccounts
import FeedLog
import FeedRanking
import FeedTestSupport

extension LogEntrySamples {
    mutating func account() -> AccountRow {
        AccountRow(
            id: number(),
            email: text(),
            displayName: text(),
            passwordHash: text(),
            createTimeMilliseconds: Int64(bitPattern: number())
        )
    }

    mutating func session() -> SessionRow {
        SessionRow(
            tokenHash: tokenHash(),
            userID: number(),
            expireTimeMilliseconds: Int64(bitPattern: number()),
            generation: number()
        )
    }

    mutating func tokenHash() -> TokenHash { TokenHash(number(), number(), number(), number()) }

    mutating func marks() -> PostMarks {
        let sides: [MarkSet] = [[], .read, .unread]
        let others: [MarkSet] = [[], .dismissed, .restored]
        let side = sides.randomElement(using: &random) ?? []
        return PostMarks(
            viewer: voter(),
            post: PostID(rawValue: number()),
            marks: side.union(others.randomElement(using: &random) ?? []),
            revision: nextRevision()
        )
    }

    mutating func markThrough() -> MarkThrough {
        MarkThrough(
            viewer: voter(),
            feed: random.oneIn(3) ? nil : FeedID(rawValue: UInt32(number(bitCount: 32))),
            mark: Mark.allCases.randomElement(using: &random) ?? .read,
            createTimeMilliseconds: Int64(bitPattern: number()),
            post: PostID(rawValue: number()),
            place: UInt8(number(bitCount: 8)),
            revision: nextRevision()
        )
    }
}
