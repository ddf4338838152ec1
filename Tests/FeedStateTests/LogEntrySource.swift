import FeedAccounts
import FeedLog
import FeedRanking
import FeedTestSupport

/// Random log entries of possible writes, each true of the model before it.
struct LogEntrySource {
    private(set) var model = StateModel.new
    private(set) var evicted: Set<UInt64> = []
    private var revision: UInt64 = 0
    private var lastID: UInt64 = 0
    private var sequences: [UInt64: UInt64] = [:]
    private var accounts = AccountEntrySource()
    private let logs = ChangeLogs(count: 3, firstBatch: 1) {}

    /// The body of a commit batch with so many writes in it.
    mutating func batch(writes: Int, using generator: inout SeededGenerator) -> [UInt8] {
        for _ in 0..<writes {
            let log = logs[Int.random(in: 0..<3, using: &generator)]
            log.transaction {
                for entry in next(using: &generator) {
                    log.append(entry)
                    model.apply(entry)
                }
            }
        }
        var body: [UInt8] = []
        _ = logs.takeBatch(into: &body)
        return body
    }

    /// A channel that is forgotten, and gets no outcome from now on.
    mutating func evict(using generator: inout SeededGenerator) -> UInt64? {
        guard let number = sequences.keys.sorted().randomElement(using: &generator) else {
            return nil
        }
        sequences[number] = nil
        evicted.insert(number)
        return number
    }

    private mutating func next(using generator: inout SeededGenerator) -> [LogEntry] {
        let ids = model.posts.keys.sorted()
        guard let id = ids.randomElement(using: &generator), var post = model.posts[id] else {
            return [create(using: &generator)]
        }
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<15: return [create(using: &generator)]
        case 15..<60: return vote(&post, using: &generator) + outcome(using: &generator)
        case 60..<70:
            post.counts.revision = takeRevision()
            post.editRevision = post.counts.revision
            post.updateTimeMilliseconds += 1
            post.content = content(using: &generator)
            return [.post(post)]
        case 70..<76:
            return [.deletion(PostID(rawValue: id), revision: takeRevision())]
        case 76..<78: return [feed(using: &generator)]
        case 78..<84: return [channel(using: &generator)]
        case 84..<86:
            lastID += 300
            revision += 1 << 24
            return [.counters(lastID: lastID, revision: revision)]
        case 86..<91: return accounts.next(model.viewers, using: &generator)
        case 91..<94: return [mark(id, using: &generator)]
        case 94: return [user(using: &generator)]
        default: return outcome(using: &generator)
        }
    }

    private mutating func takeRevision() -> UInt64 {
        revision += 1
        return revision
    }

    private mutating func create(using generator: inout SeededGenerator) -> LogEntry {
        lastID += generator.oneIn(20) ? 200 : 1
        let feed = model.feeds.keys.sorted().randomElement(using: &generator) ?? 0
        let revision = takeRevision()
        return .post(
            PostState(
                counts: PostCounts(
                    id: PostID(rawValue: lastID),
                    upvoteCount: generator.oneIn(4) ? generator.next() >> 11 : 0,
                    downvoteCount: generator.oneIn(4) ? 300 : 0,
                    revision: revision
                ),
                feed: FeedID(rawValue: feed),
                keepsBallots: model.feeds[feed]?.voteMode == .ballot,
                createTimeMilliseconds: Int64(lastID) * 1_000,
                updateTimeMilliseconds: Int64(lastID) * 1_000,
                editRevision: revision,
                content: content(using: &generator)
            )
        )
    }

    private mutating func vote(
        _ post: inout PostState,
        using generator: inout SeededGenerator
    ) -> [LogEntry] {
        post.counts.revision = takeRevision()
        if post.keepsBallots {
            // A few voters of the first chunk, or any of thousands.
            let limit: UInt32 = generator.oneIn(2) ? 8 : 6_000
            let voter = UInt32.random(in: 0..<limit, using: &generator)
            let direction: VoteDirection? =
                [.up, .down, nil].randomElement(using: &generator) ?? nil
            post.counts.upvoteCount += 1
            var entries: [LogEntry] = []
            if model.voters[voter] == nil {
                let device = Device16(high: UInt64(voter), low: generator.next())
                entries.append(.voter(VoterID(rawValue: voter), device: device))
            }
            return entries + [.ballot(post.counts, VoterID(rawValue: voter), direction)]
        }
        post.counts.upvoteCount += UInt64.random(in: 0...1, using: &generator)
        post.counts.downvoteCount += 1
        return [.counts(post.counts)]
    }

    private mutating func user(using generator: inout SeededGenerator) -> LogEntry {
        let number = UInt32(model.viewers.users.count)
        return .userVoter(
            VoterID(rawValue: (1 << 29) + number * 700),
            userID: generator.next() | 1 << 63
        )
    }

    /// A mark of one of a few viewers, on a post or through it.
    private mutating func mark(_ id: UInt64, using generator: inout SeededGenerator) -> LogEntry {
        let viewer = VoterID(rawValue: UInt32.random(in: 0..<4, using: &generator))
        guard generator.oneIn(3) else {
            let sets: [MarkSet] = [[], .read, .unread, [.read, .dismissed], .restored]
            let marks = sets.randomElement(using: &generator) ?? []
            let post = PostID(rawValue: id)
            return .marks(
                PostMarks(viewer: viewer, post: post, marks: marks, revision: takeRevision())
            )
        }
        let mark = MarkThrough(
            viewer: viewer,
            feed: generator.oneIn(2) ? nil : FeedID(rawValue: 0),
            mark: Mark.allCases.randomElement(using: &generator) ?? .read,
            createTimeMilliseconds: Int64(id) * 1_000,
            post: PostID(rawValue: id),
            place: UInt8.random(in: 0..<3, using: &generator),
            revision: takeRevision()
        )
        return .markThrough(mark)
    }

    private func feed(using generator: inout SeededGenerator) -> LogEntry {
        let number = UInt32(model.feeds.count)
        return .feed(
            FeedID(rawValue: number),
            FeedPolicy(
                name: "feed \(number)",
                defaultOrder: Order.allCases.randomElement(using: &generator) ?? .top,
                voteMode: generator.oneIn(3) ? .tally : .ballot,
                maximumTitleCharacterCount: Int.random(in: 1..<1_000, using: &generator)
            )
        )
    }

    private mutating func channel(using generator: inout SeededGenerator) -> LogEntry {
        let number = UInt64(sequences.count + evicted.count + 1)
        sequences[number] = 0
        return .channel(
            ChannelState(
                number: number,
                clientHigh: generator.next(),
                clientLow: generator.next(),
                channel: UInt32.random(in: 0...3, using: &generator)
            )
        )
    }

    private mutating func outcome(using generator: inout SeededGenerator) -> [LogEntry] {
        guard let number = sequences.keys.sorted().randomElement(using: &generator),
            let highest = sequences[number]
        else { return [] }
        // Mostly the next call, at times one that was late, or far ahead.
        var sequence = highest + UInt64.random(in: 1...3, using: &generator)
        if generator.oneIn(5) { sequence += UInt64.random(in: 0...200, using: &generator) }
        if highest > 40, generator.oneIn(4) { sequence = highest - 37 }
        sequences[number] = max(highest, sequence)
        let outcome: Outcome =
            switch sequence % 3 {
            case 0: .done
            case 1: .id(sequence &* 0x9E37_79B9_7F4A_7C15)
            default: .items(items(of: sequence, using: &generator))
            }
        return [
            .outcome(
                ChannelOutcome(
                    channel: number,
                    sequence: sequence,
                    requestHash: UInt32(truncatingIfNeeded: sequence),
                    outcome: outcome
                )
            )
        ]
    }

    /// Items of a small batch or of a large one, of the same call too: their items are joined.
    private func items(of sequence: UInt64, using generator: inout SeededGenerator) -> ItemMask {
        let (first, third) = (UInt64(1) << (generator.next() % 64), generator.next())
        return ItemMask(first, 0, sequence % 2 == 0 ? third : 0, 0)
    }

    private func content(using generator: inout SeededGenerator) -> PostContent {
        PostContent(
            authorID: generator.oneIn(2) ? 0 : 1 + generator.next() % 9,
            authorName: generator.oneIn(2) ? "" : "André \(generator.next() % 100)",
            title: "Title \(generator.next() % 1_000) 👍",
            text: String(repeating: "text ", count: Int(generator.next() % 300)),
            linkURL: generator.oneIn(2) ? "" : "https://example.org/\(generator.next())",
            thumbnailURL: "",
            imageURL: generator.oneIn(3) ? "https://example.org/image" : "",
            commentCount: generator.next() % 1_000
        )
    }
}

/// Random log entries of accounts and sessions, each true of the model before it.
struct AccountEntrySource {
    private var time: Int64 = 1_000
    private var nextUser: UInt64 = 1

    mutating func next(_ model: ViewerModel, using generator: inout SeededGenerator) -> [LogEntry] {
        time += 1
        let users = model.accounts.keys.sorted()
        guard let user = users.randomElement(using: &generator), !generator.oneIn(6) else {
            return signUp(using: &generator)
        }
        let hashes = model.sessions.keys.sorted { $0.word0 < $1.word0 }
        let session = hashes.randomElement(using: &generator).flatMap { model.sessions[$0] }
        switch Int.random(in: 0..<11, using: &generator) {
        case 8, 9:
            guard var account = model.accounts[user] else { return [] }
            account.version += 1
            account.email = "user\(user)v\(account.version)@example.org"
            account.passwordHash = "$argon2id$v=19$\(generator.next())"
            if account.isDeleted || generator.oneIn(6) {
                return delete(account, model)
            }
            account.status = generator.oneIn(3) ? .suspended : .active
            return [.account(account)]
        case 10: return reset(user, model, using: &generator)
        case 0..<3: return [begin(user, model.generations[user] ?? 0, using: &generator)]
        case 3, 4:
            guard var session else { return [] }
            session.expireTimeMilliseconds += 5
            return [.session(session)]
        case 5, 6: return session.map { [.sessionEnded($0.tokenHash)] } ?? []
        default:
            return [.sessionsEnded(userID: user, generation: (model.generations[user] ?? 0) + 1)]
        }
    }

    /// An account with its first session.
    private mutating func signUp(using generator: inout SeededGenerator) -> [LogEntry] {
        let user = nextUser
        nextUser += 1
        let account = AccountRow(
            id: user,
            email: "user\(user)@example.org",
            displayName: "Zoë \(user)",
            passwordHash: "$argon2id$v=19$\(generator.next())",
            createTimeMilliseconds: time
        )
        return [.account(account), begin(user, 0, using: &generator)]
    }

    /// The deletion of an account, or that its posts are gone; sessions end with the first.
    private func delete(_ later: AccountRow, _ model: ViewerModel) -> [LogEntry] {
        var account = later
        (account.email, account.displayName, account.passwordHash) = ("", "", "")
        if account.isDeleted {
            account.status = .erasedPosts
            return [.account(account)]
        }
        account.status = .erasingPosts
        let generation = (model.generations[account.id] ?? 0) + 1
        return [.account(account), .sessionsEnded(userID: account.id, generation: generation)]
    }

    /// A token that resets a user's password, in place of the one before.
    private func reset(
        _ user: UInt64,
        _ model: ViewerModel,
        using generator: inout SeededGenerator
    ) -> [LogEntry] {
        let earlier = model.sessions.values.filter {
            $0.userID == user && $0.kind == .passwordReset
        }
        let generation = model.generations[user] ?? 0
        return [begin(user, generation, .passwordReset, using: &generator)]
            + earlier.map { .sessionEnded($0.tokenHash) }
    }

    private func begin(
        _ user: UInt64,
        _ generation: UInt64,
        _ kind: SessionRow.Kind = .session,
        using generator: inout SeededGenerator
    ) -> LogEntry {
        .session(
            SessionRow(
                tokenHash: TokenHash(
                    generator.next(),
                    generator.next(),
                    generator.next(),
                    generator.next()
                ),
                userID: user,
                expireTimeMilliseconds: time + 100,
                generation: generation,
                kind: kind
            )
        )
    }
}
