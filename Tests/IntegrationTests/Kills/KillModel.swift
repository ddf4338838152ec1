import FeedProto

/// What a service that is killed again and again has to hold: what was acknowledged for certain,
/// and of what was in doubt one of the things that may have become of it.
struct KillModel: Sendable {
    /// A number of votes between two bounds.
    struct Votes: Sendable {
        /// Those that were acknowledged.
        var counted: UInt64 = 0
        /// Those that were sent and not answered.
        var doubtful: UInt64 = 0

        /// Takes a number that was read as the truth; false where it cannot be.
        mutating func settle(at count: UInt64) -> Bool {
            guard (counted...counted + doubtful).contains(count) else { return false }
            self = Votes(counted: count)
            return true
        }
    }

    /// Whether a post is gone.
    enum Deletion { case none, doubtful, done }

    struct ExpectedPost: Sendable {
        var title: String
        /// The last text that was acknowledged, and those that were sent after it.
        var texts = [""]
        var upvotes = Votes()
        var downvotes = Votes()
        var deletion = Deletion.none
    }

    /// The posts whose ids are known.
    var posts: [PostID: ExpectedPost] = [:]
    /// By title the upvotes of posts that may have been made, under an id that nobody heard of.
    var doubtfulPosts: [String: UInt64] = [:]
    /// By post and client the ballot that was acknowledged last, and those that were sent after it.
    var ballots: [PostID: [Int: [VoteDirection]]] = [:]
    var feeds: [String: Feed] = [:]
    /// The highest id that was seen before the service was last started.
    var highestOldID: PostID = 0
    /// The highest revision that was seen before the service was last started.
    var highestOldRevision: UInt64 = 0
    var acknowledgedVoteCount = 0
    var acknowledgedChangeCount = 0
    private(set) var problems: [String] = []
    private var highestRevision: UInt64 = 0

    /// Notes something that a service must not do.
    mutating func complain(_ problem: String) {
        if problems.count < 20 { problems.append(problem) }
    }

    /// The service was started anew: nothing that it gives out now may be older than this.
    mutating func beginLife() {
        highestOldID = max(highestOldID, posts.keys.max() ?? 0)
        highestOldRevision = highestRevision
    }

    /// Looks at the revision that an answer shows.
    mutating func see(revision: UInt64) {
        if revision < highestOldRevision {
            complain("revision \(revision) after \(highestOldRevision) was seen")
        }
        highestRevision = max(highestRevision, revision)
    }
}

extension KillModel {
    /// Takes an answer to a command; `isRepeat` where the command was sent in an earlier life too.
    mutating func acknowledge(
        _ command: KillCommand,
        _ answer: ServerFrame,
        client: Int,
        isRepeat: Bool
    ) {
        // A repeat and a ballot that stands already show a post that they have not changed.
        if !isRepeat, !isBallot(command) { see(revision: answer.revision) }
        if let status = answer.status {
            // A repeat shows today's state, and its post may have been deleted since.
            guard isRepeat, status.reason == .postNotFound, isDeleted(command) else {
                complain("\(status) for \(command)")
                return
            }
        }
        switch (command, answer.response) {
        case (.vote(let vote), _):
            acknowledgedVoteCount += 1
            if ballots[vote.postID] != nil {
                ballots[vote.postID]?[client] = [vote.direction]
            } else {
                count(vote, \.counted)
            }
        case (.votes(let votes), .batchCastVotes(let response)):
            acknowledgedVoteCount += votes.count
            for (vote, result) in zip(votes, response.results) {
                if let status = result.status, !(isRepeat && isDeleted(.vote(vote))) {
                    complain("\(status) for a vote of a batch")
                }
                count(vote, \.counted)
            }
        case (.create(let title), .post(let post)):
            add(post.id, ExpectedPost(title: title), isRepeat)
        case (.importPosts(let titles, let upvotes), .importPosts(let response)):
            for (title, id) in zip(titles, response.ids) {
                add(id, ExpectedPost(title: title, upvotes: Votes(counted: upvotes)), isRepeat)
            }
        case (.update(let post, let text), _): posts[post]?.texts = [text]
        case (.delete(let post), _): posts[post]?.deletion = .done
        default: complain("no answer to \(command)")
        }
        switch command {
        case .vote, .votes: break
        default: acknowledgedChangeCount += 1
        }
    }

    /// Takes a command that was sent and can no more be answered.
    mutating func doubt(_ command: KillCommand, client: Int) {
        switch command {
        case .vote(let vote):
            if ballots[vote.postID] != nil {
                ballots[vote.postID]?[client, default: [.unspecified]].append(vote.direction)
            } else {
                count(vote, \.doubtful)
            }
        case .votes(let votes): for vote in votes { count(vote, \.doubtful) }
        case .create(let title): doubtfulPosts[title] = 0
        case .importPosts(let titles, let upvotes):
            for title in titles { doubtfulPosts[title] = upvotes }
        case .update(let post, let text): posts[post]?.texts.append(text)
        case .delete(let post): posts[post]?.deletion = .doubtful
        }
    }

    private mutating func count(_ vote: CastVoteRequest, _ part: WritableKeyPath<Votes, UInt64>) {
        if vote.direction == .up {
            posts[vote.postID]?.upvotes[keyPath: part] += 1
        } else {
            posts[vote.postID]?.downvotes[keyPath: part] += 1
        }
    }

    private mutating func add(_ id: PostID, _ post: ExpectedPost, _ isRepeat: Bool) {
        if posts[id] != nil { complain("id \(id) was given twice") }
        if !isRepeat, id <= highestOldID {
            complain("id \(id) was given after \(highestOldID) was seen")
        }
        posts[id] = post
    }

    private func isBallot(_ command: KillCommand) -> Bool {
        guard case .vote(let vote) = command else { return false }
        return ballots[vote.postID] != nil
    }

    private func isDeleted(_ command: KillCommand) -> Bool {
        switch command {
        case .vote(let vote): posts[vote.postID]?.deletion != Deletion.none
        case .update(let post, _), .delete(let post): posts[post]?.deletion != Deletion.none
        default: false
        }
    }
}

/// All that a service shows while nobody changes anything.
struct KillReading: Sendable {
    /// Every post of every feed.
    var posts: [Post] = []
    var feeds: [Feed] = []
    /// By post and client the ballot that stands.
    var ballots: [PostID: [Int: VoteDirection]] = [:]
}

extension KillModel {
    /// Compares what a service shows with what it has to hold, and takes it as the truth where it
    /// was in doubt.
    ///
    /// No command may be in doubt that is to be sent again.
    mutating func settle(_ reading: KillReading) {
        for (id, ballots) in reading.ballots { settle(ballots, of: id) }
        var seen: Set<PostID> = []
        var titles: Set<String> = []
        for post in reading.posts {
            if !seen.insert(post.id).inserted { complain("post \(post.id) is listed twice") }
            if !titles.insert(post.title).inserted { complain("\(post.title) was made twice") }
            settle(post)
        }
        for (id, expected) in posts where !seen.contains(id) {
            if expected.deletion == .none { complain("post \(id) is lost") }
            posts[id]?.deletion = .done
        }
        // What is not there now must not come later.
        doubtfulPosts = [:]
        settle(reading.feeds, reading.posts)
    }

    private mutating func settle(_ found: [Int: VoteDirection], of post: PostID) {
        for (client, candidates) in ballots[post] ?? [:] {
            let possible = candidates.map { $0 == .clear ? .unspecified : $0 }
            let ballot = found[client] ?? .unspecified
            if !possible.contains(ballot) {
                complain("client \(client) has ballot \(ballot) on \(post), not of \(possible)")
            }
            ballots[post]?[client] = [ballot]
        }
    }

    private mutating func settle(_ post: Post) {
        if posts[post.id] == nil, let upvotes = doubtfulPosts.removeValue(forKey: post.title) {
            posts[post.id] = ExpectedPost(title: post.title, upvotes: Votes(counted: upvotes))
        }
        guard var expected = posts[post.id] else {
            complain("nobody made post \(post.id), \(post.title)")
            return
        }
        if expected.deletion == .done { complain("post \(post.id) was deleted, and is there") }
        expected.deletion = .none
        if expected.title != post.title { complain("post \(post.id) has the title \(post.title)") }
        if !expected.texts.contains(post.text) {
            complain("post \(post.id) has the text \(post.text), not of \(expected.texts)")
        }
        expected.texts = [post.text]
        if let ballots = ballots[post.id] {
            let standing = ballots.values.compactMap(\.first)
            expected.upvotes = Votes(counted: UInt64(standing.count { $0 == .up }))
            expected.downvotes = Votes(counted: UInt64(standing.count { $0 == .down }))
        }
        if !expected.upvotes.settle(at: post.upvoteCount) {
            complain("post \(post.id) has \(post.upvoteCount) upvotes, not \(expected.upvotes)")
            expected.upvotes = Votes(counted: post.upvoteCount)
        }
        if !expected.downvotes.settle(at: post.downvoteCount) {
            complain(
                "post \(post.id) has \(post.downvoteCount) downvotes, not \(expected.downvotes)"
            )
            expected.downvotes = Votes(counted: post.downvoteCount)
        }
        posts[post.id] = expected
    }

    private mutating func settle(_ found: [Feed], _ posts: [Post]) {
        for (name, feed) in feeds {
            guard var other = found.first(where: { $0.name == name }) else {
                complain("feed \(name) is lost")
                continue
            }
            let count = UInt64(posts.count { $0.feed == name })
            if other.postCount != count {
                complain("feed \(name) says \(other.postCount) posts, and lists \(count)")
            }
            other.postCount = feed.postCount
            if other != feed { complain("feed \(name) is \(other), and was \(feed)") }
        }
    }
}

/// A change that a client of a kill run asks for, in terms that the model understands.
enum KillCommand: Sendable {
    /// A vote; a ballot where the post's feed has ballots.
    case vote(CastVoteRequest)
    /// Several votes in one call, none of them a ballot.
    case votes([CastVoteRequest])
    /// A new post with a title that no other post has.
    case create(title: String)
    /// Posts from elsewhere with such titles, and with so many upvotes.
    case importPosts(titles: [String], upvotes: UInt64)
    case update(post: PostID, text: String)
    case delete(post: PostID)

    var request: Request {
        switch self {
        case .vote(let vote): .castVote(vote)
        case .votes(let votes): .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case .create(let title): .createPost(CreatePostRequest(post: Post(title: title)))
        case .importPosts(let titles, let upvotes):
            .importPosts(
                ImportPostsRequest(
                    posts: titles.map {
                        Post(
                            title: $0,
                            upvoteCount: upvotes,
                            createTimeMilliseconds: 1_600_000_000_000
                        )
                    }
                )
            )
        case .update(let post, let text):
            .updatePost(UpdatePostRequest(post: Post(id: post, text: text), updateMask: [.text]))
        case .delete(let post): .deletePost(DeletePostRequest(id: post))
        }
    }
}

/// A way in which clients do other than their model records, so that a right service looks wrong.
enum KillFault: CaseIterable, Sendable {
    /// Votes without a sequence are answered and not counted.
    case lost
    /// Votes without a sequence are counted twice.
    case doubled
    /// Calls that are sent again are executed again.
    case forgotten
    /// Votes without a sequence are answered before they are durable.
    case early

    /// The call that a client sends in place of a command; nil where it sends the command.
    func request(insteadOf command: KillCommand, sequence: UInt64) -> Request? {
        guard sequence == 0, case .vote(let vote) = command else { return nil }
        return switch self {
        case .lost: .ping(PingRequest())
        case .doubled: .batchCastVotes(BatchCastVotesRequest(votes: [vote, vote]))
        case .forgotten, .early: nil
        }
    }
}
