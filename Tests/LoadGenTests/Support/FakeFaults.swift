/// What goes wrong in a fake service; the numbers count votes as they arrive, each send for itself.
struct FakeFaults: Sendable {
    /// Every vote of this number is acknowledged and forgotten.
    var dropEvery: UInt64?
    /// Every vote of this number counts twice and is acknowledged once.
    var doubleEvery: UInt64?
    /// Every vote of this number is answered with an error although it counted.
    var failCountedEvery: UInt64?
    /// Every vote of this number is refused for now and did not count.
    var failEvery: UInt64?
    /// The answer to this vote gets the id of the next.
    var misnumberAt: UInt64?
    /// The answer to this vote is about another post.
    var misdirectAt: UInt64?
    /// With this vote the service dies, before it counts.
    var dieAt: UInt64?
    /// With this created post the service dies, after it was created.
    var dieAtCreate: UInt64?
    /// Every vote of this number loses its connection before it counts.
    var loseBeforeEvery: UInt64?
    /// Every vote of this number loses its connection after it counted.
    var loseAfterEvery: UInt64?
    /// Every vote of this number loses its connection in the middle of its answer.
    var cutEvery: UInt64?
    /// Every created or imported post of this number loses the connection after it was made.
    var loseCreateEvery: UInt64?
    /// The answer to every vote of this number has another ballot than the voter's.
    var wrongBallotEvery: UInt64?
    /// The answer to this vote comes after the next vote of its connection was refused, as where a disk
    /// hangs.
    var passAt: UInt64?
    /// From this vote on answers are held back for a while.
    var stallAt: UInt64?
    /// How long that is.
    var stall = Duration.milliseconds(300)
    /// Answers to votes on are never sent from this vote on.
    var silentFrom: UInt64?
    /// Every vote of this number counts and is never answered.
    var silentEvery: UInt64?
    /// After this vote the service sends GoAway on its connection.
    var leaveAt: UInt64?
    /// Every page has the same posts, and another page follows it.
    var repeatsPages = false
    /// So many times the first page that was asked for is served again, before it is read anew.
    var staleCount: UInt64?
    /// Every page has a hundred new posts that nobody created, and another page follows it.
    var makesUpPosts = false
    /// The clock of the service, in milliseconds; nil is one that is as good as any.
    var clock: Int64?
    /// The score of each post that is read by its id; nil is the right one.
    var readScore: Int64?
    /// The result of this vote of a batch has neither a vote nor a status.
    var emptyResultAt: UInt64?
    /// Hello of a connection of the load is answered with a ping.
    var greetsWithPing = false
    /// Nobody may act for a user.
    var refusesUsers = false
    /// Sequences are looked at by nobody: what is sent twice is executed twice.
    var ignoresSequences = false
    /// The channels are forgotten with each loss of a connection, and Hello says so.
    var forgetsChannels = false
    /// The channels are forgotten with the loss of a connection, and the Hello that makes one anew
    /// loses its connection instead of an answer.
    var losesHellos = false
    /// The service does not say that it executes anything exactly once.
    var lacksExactlyOnce = false
    /// After its death the service starts again at the same address.
    var restarts = false
    /// What it starts again with is empty, and another instance.
    var restartsEmpty = false
    /// The message with which every post is refused.
    var refusal: String?
    /// Whether nobody may create a feed.
    var refusesFeeds = false
    /// The seed of the changes to answers, and of how many one is changed.
    var mutation: (seed: UInt64, oneIn: Int)?
    /// What happens to each call that asks for times.
    var timed: FakeTimedFault?
}

/// What happens to the calls of a fake service that ask for its times.
enum FakeTimedFault: Sendable {
    /// Their answers have no times, as of a service that does not know them.
    case noTimes
    /// Their times are of another clock.
    case otherClock
    /// Their votes are answered with another post.
    case otherPost
    /// Their votes are answered with the score 0.
    case lowScore
    /// Their votes are answered with another ballot than the voter's.
    case otherBallot
    /// They are refused for now and are not executed.
    case refused
    /// They lose their connection after they were executed.
    case lost
}
