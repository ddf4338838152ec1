import FeedLog
import FeedRanking
import FeedTestSupport

/// What a client asks for, as a value, so that it can be asked for again.
enum StoreCommand: Equatable {
    case vote(UInt64, VoteDirection, by: VoterKey)
    case create(PostContent, feed: UInt32)
    case update(UInt64, PostChanges)
    case delete(UInt64)
    case importPosts([ImportedPost], feed: UInt32)
    case createFeed(FeedPolicy)
    /// Gives posts that were created or edited after a time an earlier one.
    case correctTimes(after: Int64, to: Int64)
    /// A viewer's mark on posts.
    case mark([UInt64], Mark, by: VoterKey)
    /// A viewer's mark on all posts up to one, of a feed or of all for nil.
    case markThrough(UInt64, feed: FeedID?, Mark, by: VoterKey)
    /// The log entries of an account or a session, which no store has.
    case account([LogEntry])
    /// Upvotes, each executed by itself.
    case batch([UInt64])
}

extension StoreCommand {
    var isMark: Bool {
        switch self {
        case .mark, .markThrough: true
        default: false
        }
    }

    /// The command without the entries that no service would log.
    ///
    /// A call that is sent again after a power cut may be about an account that the cut has taken.
    func allowed(by viewers: ViewerModel) -> StoreCommand {
        guard case .account(let entries) = self else { return self }
        var viewers = viewers
        return .account(
            entries.filter { entry in
                let isAllowed = viewers.allows(entry)
                if isAllowed { viewers.apply(entry) }
                return isAllowed
            }
        )
    }
}

/// A command as a client sends it, under a number of its channel or without.
struct ClientCall: Equatable {
    var command: StoreCommand
    /// 0 where the call has no number.
    var channel: UInt32 = 0
    var sequence: UInt64 = 0

    var isNumbered: Bool { sequence > 0 }

    /// Tells the request from others; never alike for two numbers of a run.
    var hash: UInt32 { UInt32(truncatingIfNeeded: sequence &* 0x9E37_79B9 &+ UInt64(channel)) }
}

extension StoreCommand {
    /// A command that the posts of a model give sense to.
    static func random(
        _ model: CommandModel,
        _ accounts: inout AccountEntrySource,
        _ generator: inout SeededGenerator
    ) -> StoreCommand {
        let feed = UInt32.random(in: 0..<UInt32(model.feeds.count), using: &generator)
        guard let id = model.posts.keys.sorted().randomElement(using: &generator) else {
            return .create(.random(&generator), feed: feed)
        }
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<4 where model.posts.count < 40: return .create(.random(&generator), feed: feed)
        case 4 where model.posts.count < 40:
            let count = Int.random(in: 1...4, using: &generator)
            return .importPosts((0..<count).map { _ in .random(&generator) }, feed: feed)
        case 5..<8: return .update(id, .random(&generator))
        case 8, 9: return .delete(generator.oneIn(5) ? 1 + generator.next() % model.lastID : id)
        case 10 where model.feeds.count < 7:
            let modes: [VoteMode] = [.tally, .ballot, .ballot, .userBallot]
            let mode = modes.randomElement(using: &generator) ?? .ballot
            return .createFeed(FeedPolicy(name: "feed \(model.feeds.count)", voteMode: mode))
        case 11..<14:
            let ids = model.posts.filter { !$0.value.keepsBallots }.keys.sorted()
            let count = Int.random(in: 1...5, using: &generator)
            return .batch((0..<count).map { _ in ids.randomElement(using: &generator) ?? id })
        case 15..<18: return .account(accounts.next(model.viewers, using: &generator))
        case 14 where generator.oneIn(3):
            // Now and then all of them, mostly those that were not imported.
            let bound = generator.oneIn(4) ? 500_000 : Int64(2_000_000)
            return .correctTimes(after: bound, to: bound / 2)
        case 18..<23: return mark(id, model, &generator)
        default:
            let isBallot = model.posts[id]?.keepsBallots == true
            let directions: [VoteDirection] = isBallot ? [.up, .down, .clear] : [.up, .down]
            let direction = directions.randomElement(using: &generator) ?? .up
            return .vote(id, direction, by: voter(&generator))
        }
    }

    private static func mark(
        _ id: UInt64,
        _ model: CommandModel,
        _ generator: inout SeededGenerator
    ) -> StoreCommand {
        let viewer = voter(&generator)
        let mark = Mark.allCases.randomElement(using: &generator) ?? .read
        let marks = model.marks[viewer] ?? MarkModel()
        if generator.oneIn(3), let post = model.origin(of: id) {
            let feed = generator.oneIn(3) ? nil : post.feed
            // Beyond the limit a mark is refused, unless it says nothing new.
            if marks.countBeyond(post, in: feed, mark.topic) < RankingLimits.maximumMarkStepCount {
                return .markThrough(id, feed: feed, mark, by: viewer)
            }
        }
        let others = model.posts.keys.sorted().filter { _ in generator.oneIn(8) }
        return .mark([id] + others.prefix(6), mark, by: viewer)
    }

    private static func voter(_ generator: inout SeededGenerator) -> VoterKey {
        CommandModel.voters.randomElement(using: &generator) ?? CommandModel.voters[0]
    }
}

extension PostContent {
    /// Texts of a few bytes, or of half a page of a file.
    static func random(_ generator: inout SeededGenerator) -> PostContent {
        let length = generator.oneIn(3) ? 300 : 40
        return PostContent(
            authorID: generator.oneIn(2) ? 0 : 1 + generator.next() % 5,
            authorName: generator.oneIn(3) ? "" : "author \(generator.next() % 9)",
            title: "title \(generator.next() % 20)",
            text: String(repeating: "text ", count: Int.random(in: 0...length, using: &generator)),
            linkURL: generator.oneIn(2) ? "https://example.org/\(generator.next())" : "",
            commentCount: generator.next() % 300
        )
    }
}

extension PostChanges {
    static func random(_ generator: inout SeededGenerator) -> PostChanges {
        PostChanges(
            title: generator.oneIn(2) ? "title \(generator.next() % 20)" : nil,
            text: generator.oneIn(2) ? "new text \(generator.next())" : nil,
            commentCount: generator.oneIn(2) ? 7 : nil
        )
    }
}

extension ImportedPost {
    /// A post of a time before all that a run gives.
    static func random(_ generator: inout SeededGenerator) -> ImportedPost {
        ImportedPost(
            content: .random(&generator),
            createTimeMilliseconds: Int64(generator.next() % 1_000_000),
            upvoteCount: generator.next() % 500,
            downvoteCount: generator.oneIn(5) ? 70_000 : 2
        )
    }
}
