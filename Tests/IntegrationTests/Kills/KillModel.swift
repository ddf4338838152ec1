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

    /// A post that was acknowledged, or found after a kill.
    struct ExpectedPost: Sendable {
        var title: String
        /// The last text that was acknowledged, and those that were sent after it.
        var texts = [""]
        var upvotes = Votes()
        var downvotes = Votes()
        var deletion = Deletion.none
    }

    /// The posts whose ids are known.
    var posts: [UInt64: ExpectedPost] = [:]
    /// By title the upvotes of posts that may have been made, under an id that nobody heard of.
    var doubtfulPosts: [String: UInt64] = [:]
    /// By post and client the ballot that was acknowledged last, and those that were sent after it.
    var ballots: [UInt64: [Int: [VoteDirection]]] = [:]
    /// The feeds that were acknowledged.
    var feeds: [String: Feed] = [:]
    /// The highest id that was seen before the service was last started.
    var highestOldID: UInt64 = 0
    /// The highest revision that was seen before the service was last started.
    var highestOldRevision: UInt64 = 0
    /// The votes that were acknowledged.
    var acknowledgedVoteCount = 0
    /// Changes of other kinds that were acknowledged.
    var acknowledgedChangeCount = 0
    /// What is wrong with the service.
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

    private mutating func add(_ id: UInt64, _ post: ExpectedPost, _ isRepeat: Bool) {
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
