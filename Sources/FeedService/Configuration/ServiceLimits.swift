package import FeedAccounts
package import FeedCalls
internal import FeedTransport

/// Every limit of the service, each with its reason; Hello names some of them.
package struct ServiceLimits: Sendable, Equatable {
    /// The largest frame either way: a page of 100 posts of common size fits many times over.
    package var maximumFrameByteCount = 1 << 20
    /// The requests of one connection that a loop executes in an iteration; the others follow.
    package var requestsPerIteration = 64
    /// The requests in flight on a connection, which Hello names as the limit; the service executes
    /// on arrival, and holds at most one read of 64 KiB more before it stops reading.
    package var maximumInFlightCount = 256
    /// Unsent answers of a connection: beyond them nothing more is read from it or executed for it.
    package var maximumUnsentByteCount = 1 << 20
    /// The connections over all loops; lowered to what the open-files limit allows.
    package var maximumConnectionCount = 10_000
    /// The limits of each key and of each host, for callers from other machines.
    package var identities = IdentityLimits()
    /// What a request may say.
    package var calls = CallLimits()
    /// The bytes of an import's texts that are walked character by character in one loop iteration:
    /// some 2 ms.
    package var walkedTextByteCount = 64 << 10
    /// The ids that one CorrectTimes or DeletePosts checks: under a millisecond.
    package var correctedIDCount = 16_384
    /// The posts that one CorrectTimes answers with.
    package var maximumCorrectedPostCount = 256
    /// The bytes of texts after which one CorrectTimes corrects no further, as they are logged again, and of
    /// titles after which one DeletePosts ends: an answer is a frame.
    package var correctedTextByteCount = 256 << 10
    /// The posts that one DeletePosts deletes: some milliseconds.
    package var maximumDeletedPostCount = 256
    /// The log names calls that took longer; nil names none.
    package var slowCallTime: Duration?
    /// The time that a commit or an event loop may stand still before the service is not ready; in a
    /// commit's case calls are refused then.
    package var stallLimit = Duration.seconds(5)
    /// The deadline that 0 stands for, in milliseconds.
    package var defaultTimeoutMilliseconds: UInt32 = 5000
    /// The longest deadline, in milliseconds; longer ones are lowered to it.
    package var maximumTimeoutMilliseconds: UInt32 = 60_000
    /// The memory of numbered calls, and how long they are remembered.
    package var channels = ChannelLimits()
    /// How long a connection may be silent before it is closed.
    package var idleTimeout = Duration.seconds(90)
    /// How long the rest of a frame may take after its first byte.
    package var frameTimeout = Duration.seconds(5)
    /// How long answers may wait without the peer taking a byte.
    package var writeProgressTimeout = Duration.seconds(10)
    /// How long a drain waits for clients to take their answers.
    package var drainTimeout = Duration.seconds(10)
    /// The bytes held for all connections before changes are refused; reads may use half of it.
    package var maximumBufferedByteCount = 192 << 20

    /// Who may create posts, and how much.
    package var posts = PostLimits()
    package var accounts = AccountLimits()
    /// The sessions of one part of their table in 64 that are looked at in a second, to forget those that
    /// have expired; each of four million is looked at within 66 minutes.
    package var examinedSessionsPerSecond = 1024
    /// The new devices one host may bring at once, and in a minute.
    package var newDevicesPerPeerMinute = 10_000

    /// The watches of all connections.
    ///
    /// 10,000 may watch lists, and some watch posts. What the clients know takes 40 MB at most.
    package var maximumWatchCount = 12_000
    /// The least time between two events where a watch names none.
    package var defaultWatchInterval = Duration.milliseconds(250)
    /// The least time between two events that a watch may name.
    package var minimumWatchInterval = Duration.milliseconds(50)
    /// The greatest one; a longer one is lowered to it.
    package var maximumWatchInterval = Duration.seconds(60)

    /// A follower of a cluster refuses reads once it has not heard of its leader for so long.
    package var maximumStaleness = Duration.seconds(2)
    /// How long a follower waits at most for the revision that a call asks for.
    package var catchUpTime = Duration.milliseconds(500)
    /// The calls of a loop that wait for a revision, and the bytes of their frames: further ones are
    /// refused at once.
    package var waitingReadCount = 1_024
    package var waitingReadByteCount = 1 << 20

    /// The bytes that one CorrectTimes logs at most: the texts it may, those of the post that passes
    /// that limit, and the numbers of each post.
    var longestCorrectionByteCount: Int {
        correctedTextByteCount + calls.maximumTextByteCount + 3 * calls.maximumURLByteCount
            + calls.maximumTitleByteCount + calls.maximumNameByteCount + 160
            * maximumCorrectedPostCount
    }

    package init() {}
}

extension ServiceLimits {
    /// The most bytes that one post takes in an answer.
    var greatestPostByteCount: Int {
        calls.maximumTitleByteCount + calls.maximumTextByteCount + 3 * calls.maximumURLByteCount
            + calls.maximumNameByteCount + calls.maximumFeedNameByteCount
            + Self.postNumbersByteCount
    }

    /// The two tokens of a page, each with the longest title, and the frame's own fields.
    var pageTokensByteCount: Int { 2 * calls.maximumTitleByteCount + 4096 }

    /// A post's numbers and tags: 20 fields of at most 12 bytes.
    static let postNumbersByteCount = 240
}

extension TransportConfiguration {
    /// The transport's configuration for the limits of the service; a nil `clock` is the system's.
    init(_ limits: ServiceLimits, clock: ManualClock?) {
        self.init()
        self.clock = clock
        closesOverBudget = true
        sendBufferByteCount = TransportLimits.sendBufferByteCount
        lentSendBufferByteCount = TransportLimits.lentSendBufferByteCount
        showsReadsTogether = true
        measuresIdleTime = true
        // A frame and its header of four bytes.
        maximumUnconsumedByteCount = limits.maximumFrameByteCount + 4
        highWatermarkByteCount = limits.maximumUnsentByteCount
        lowWatermarkByteCount = limits.maximumUnsentByteCount / 4
        idleTimeout = limits.idleTimeout
        partialReadTimeout = limits.frameTimeout
        writeProgressTimeout = limits.writeProgressTimeout
        // Deadlines are late by up to two sweeps, so short ones need more of them.
        let shortest = min(limits.idleTimeout, limits.frameTimeout, limits.writeProgressTimeout)
        sweepInterval = min(sweepInterval, max(.milliseconds(5), shortest / 4))
    }
}
