import FakeReplica
import FeedAccounts
import FeedConcurrency
import FeedJournal
import FeedLog
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// A node of a cluster with its threads, in a real directory.
@Suite(.timeLimit(.minutes(5))) struct ClusterStateTests {
    private let directory: TemporaryDirectory
    private var options: StateOptions

    init() throws {
        directory = try TemporaryDirectory()
        options = StateOptions(path: directory.path + "/state", logCount: 2)
        options.journal.segmentByteCount = 1 << 20
        options.journal.space.ballastByteCount = 1 << 16
    }

    private func open(
        _ options: StateOptions,
        _ store: FeedStore,
        _ events: DurableState.Events
    ) throws -> DurableState {
        try DurableState.open(
            StateDirectory(options),
            into: store,
            channels: { _ in },
            events: events
        )
    }

    /// A directory of one machine, and a service in it that starts and ends.
    private func makeState() throws {
        let state = try open(options, FeedStore(stripeCount: 4) { 1_000 }, DurableState.Events())
        try state.start()
        state.stop()
    }

    /// A copy of one machine's directory is refused, as its original may be in use.
    @Test func aCopyOfTheDirectoryIsAnotherMachines() throws {
        try makeState()
        let copies = ["/early", "/late"].map { directory.path + $0 }
        try FileManager.default.copyItem(atPath: options.path, toPath: copies[0])
        #expect(throws: StateStartError.self) { try ClusterBeginning.run(path: copies[0]) }
        let begun = try ClusterBeginning.run(path: options.path)
        try FileManager.default.copyItem(atPath: options.path, toPath: copies[1])
        var options = options
        options.path = copies[1]
        options.replica = ReplicaOptions(socketPath: directory.path + "/none", address: "here:1")
        let store = FeedStore(stripeCount: 4) { 1_000 }
        let state = try open(options, store, DurableState.Events())
        #expect(state.isOfCluster && state.identity.instanceID == begun.instanceID)
    }

    @Test func itCommitsOnItsThreadsAndGoesOnAfterAStop() throws {
        try makeState()
        let begun = try ClusterBeginning.run(path: options.path)
        let id = ClusterID(high: begun.instanceID, low: 0)
        let replica = try FakeReplica(in: FakeCluster(id, behind: begun.last.number))
        try replica.start()
        defer { replica.stop() }
        var options = options
        options.replica = ReplicaOptions(socketPath: replica.socketPath, address: "here:1")
        for count in 0..<3 as Range<UInt64> {
            let store = FeedStore(stripeCount: 4) { 1_000 }
            let (leads, commits) = (Semaphore(), Semaphore())
            var events = DurableState.Events()
            events.replica.follow = { chain in
                LiveApply(store: store, accounts: Accounts(), after: chain) { _ in }
            }
            events.replica.role = { if case .leading = $0 { leads.signal() } }
            events.journal.durable = { _ in commits.signal() }
            let state = try open(options, store, events)
            #expect(state.isOfCluster && state.durability == .replicated)
            try state.start()
            #expect(leads.wait(upTo: .seconds(60)))
            #expect(store.postCount == count)
            for number in 0..<20 {
                let log = state.logs[number % 2]
                let isNew = number == 0
                log.transaction {
                    var page = PostPage()
                    let feed = FeedID(rawValue: 0)
                    let content = PostContent(title: "Post")
                    guard isNew else {
                        _ = try? store.castVote(PostID(rawValue: count + 1), .up, sink: log)
                        return
                    }
                    _ = try? store.createPost(content, in: feed, sink: log, into: &page)
                }
                // Several batches; what the last changes have logged is committed by the stop.
                guard number.isMultiple(of: 4) else { continue }
                while state.journal.durableBatch < state.logs.newestBatch { commits.wait() }
            }
            // A stop commits what was logged.
            state.stop()
            #expect(state.journal.durableBatch == state.logs.newestBatch)
            #expect(replica.cluster.committed == state.journal.durableBatch)
            #expect(replica.cluster.violations == [])
        }
    }

    @Test func theDirectoryOfOneMachineIsRefused() throws {
        try makeState()
        var options = options
        options.replica = ReplicaOptions(socketPath: "/unused", address: "")
        do throws(StateStartError) {
            _ = try DurableState.open(
                StateDirectory(options),
                into: FeedStore(stripeCount: 4) { 1_000 },
                channels: { _ in },
                events: DurableState.Events()
            )
            Issue.record("It was served.")
        } catch {
            guard case .ofOneMachine = error else { throw error }
            #expect(error.exitStatus == 4)
        }
    }
}
