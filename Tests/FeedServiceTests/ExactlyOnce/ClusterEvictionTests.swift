import FeedJournal
import FeedLog
import FeedProto
import FeedRanking
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// In a cluster it is logged that a channel is forgotten.
@Suite(.timeLimit(.minutes(10))) struct ClusterEvictionTests {
    private typealias Support = ExactlyOnceTests

    @Test func anEvictedChannelIsForgottenByTheNextStartToo() async throws {
        let directory = try TemporaryDirectory()
        var options = StateOptions(path: directory.path, logCount: 1)
        options.journal.space.ballastByteCount = 1 << 20
        let ofOneMachine = options
        try await withService {
            $0.state = ofOneMachine
        } _: { _ in
        }
        _ = try ClusterBeginning.run(StateDirectory(options))
        options.servesCluster = true
        options.testHooks.commitThread = { AgreeingCommitThread($0) }
        let ofCluster = options
        try await withService { configuration in
            configuration.state = ofCluster
            configuration.limits.channels.retention = .zero
        } _: { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            do {
                let left = try Support.connect(port, channel: 1)
                #expect(try left.call(Support.vote(id), sequence: 1).status == nil)
            }
            try Self.awaitEviction(client)
        }
        #expect(try StateVerification.run(path: directory.path).chain != nil)
        try await withService {
            $0.state = ofCluster
        } _: { port in
            let hello = try Support.helloed(WireClient(port: port), channel: 1)
            #expect(!hello.isClientKnown)
        }
    }

    /// Waits until the service has forgotten a channel, and has logged that.
    private static func awaitEviction(_ client: WireClient) throws {
        var evicted: UInt64 = 0
        while evicted == 0 { evicted = try client.serverStats().evictedChannelCount }
    }

    @Test func anEvictionTakesAChannelThatWasRestored() throws {
        let table = ChannelTableTests().table()
        let key = ChannelTable.Key(Device16(high: 1, low: 2), channel: 3)
        let state = ChannelState(number: 7, clientHigh: 1, clientLow: 2, channel: 3)
        let call = ChannelOutcome(channel: 7, sequence: 1, requestHash: 5, outcome: .done)
        for entry in [LogEntry.channel(state), .outcome(call)] { table.restore(entry) }
        #expect(table.isKnown(key))
        table.restore(.evictedChannel(8))
        #expect(table.isKnown(key))
        table.restore(.evictedChannel(7))
        #expect(!table.isKnown(key) && table.count == 0)
        // It is in the log already.
        #expect(table.takeEvicted() == [])
        table.restore(.outcome(call))
        table.endRestoring()
        #expect(table.count == 0)
    }
}
