/// What a run knows of its posts and votes at its end, so that they can be audited again later.
package struct RunRecord: Sendable, Equatable {
    /// A feed that a file filled.
    package struct Feed: Sendable, Equatable {
        /// Its name.
        package var name: String
        /// Its posts by the run.
        package var ids: [UInt64]

        /// A feed with the posts `ids`.
        package init(name: String, ids: [UInt64]) {
            self.name = name
            self.ids = ids
        }
    }

    /// The state of the service that has them.
    package var instanceID: UInt64
    /// The feed of the posts; empty where files filled several.
    package var feed: String
    /// Feeds that files filled, which have their posts and no others; none in a run of a workload.
    package var feeds: [Feed] = []
    /// When the first post was created, by the service's clock.
    package var startMilliseconds: Int64
    /// When the run ended, by the service's clock.
    package var endMilliseconds: Int64
    /// What the votes are counted in: scores, or upvotes and downvotes alternately, as ballots are.
    package var tallied: Tallied
    /// The posts, by their number.
    package var posts: [UInt64]
    /// What is known of the votes: those on post n at n; or those up at 2n, and those down next.
    package var tallies: [VoteTally]
    /// Votes without an answer, by the number in `tallies`.
    package var unknown: [Int: UInt64] = [:]
    /// Votes answered with an error, by the number in `tallies`.
    package var failed: [Int: UInt64] = [:]
    /// Acknowledged votes that an earlier send may have executed, by the number in `tallies`.
    package var repeated: [Int: UInt64] = [:]
    /// Posts that acknowledged requests created during the load.
    package var createdIDs: [UInt64] = []
    /// Titles of posts that requests without an answer may have created.
    package var unknownTitles: [String] = []

    /// A record of `posts`, of which nothing is unknown, refused or sent twice.
    package init(
        instanceID: UInt64,
        feed: String,
        startMilliseconds: Int64,
        endMilliseconds: Int64,
        tallied: Tallied,
        posts: [UInt64],
        tallies: [VoteTally]
    ) {
        self.instanceID = instanceID
        self.feed = feed
        self.startMilliseconds = startMilliseconds
        self.endMilliseconds = endMilliseconds
        self.tallied = tallied
        self.posts = posts
        self.tallies = tallies
    }

    /// The text form of an instance id: most readers of JSON cannot represent its number.
    package static func name(_ instanceID: UInt64) -> String {
        let digits = String(instanceID, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension AuditKnowledge {
    /// The knowledge of an earlier run, without its planned votes.
    init(_ record: RunRecord) {
        let tallied = record.tallied
        var accounts: [PostAccount] = []
        for (number, tally) in record.tallies.enumerated() {
            var account = PostAccount(id: record.posts[tallied.isSplit ? number / 2 : number])
            account.number = tallied.number(ofAccount: number)
            account.tally = tally
            account.unknownCount = record.unknown[number] ?? 0
            account.errorCount = record.failed[number] ?? 0
            account.repeatedCount = record.repeated[number] ?? 0
            accounts.append(account)
        }
        self.init(
            accounts: accounts,
            createdIDs: Set(record.createdIDs),
            unknownTitles: Set(record.unknownTitles)
        )
    }
}

extension Tallied {
    /// What the account of this number counts.
    fileprivate func number(ofAccount number: Int) -> PostAccount.Number {
        switch self {
        case .scores: .score
        case .directions: number.isMultiple(of: 2) ? .upvotes : .downvotes
        case .ballots: number.isMultiple(of: 2) ? .ballotsUp : .ballotsDown
        }
    }
}
