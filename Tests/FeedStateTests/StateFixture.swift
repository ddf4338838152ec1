import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport

/// States to test with, the same for each seed.
enum StateFixture {
    /// Checkpoints the effects of some cuts; gives the state that they make.
    @discardableResult
    static func fill(
        _ database: StateDatabase,
        cuts: Int = 6,
        seed: UInt64 = 1
    ) throws -> (model: StateModel, bodies: [[UInt8]]) {
        var source = EffectSource()
        var generator = SeededGenerator(seed: seed)
        let bodies = (0..<cuts).map { _ in source.cut(writes: 60, using: &generator) }
        try checkpoint(bodies, into: database)
        return (source.model, bodies)
    }

    /// Checkpoints bodies behind those that are checkpointed.
    static func checkpoint(_ bodies: [[UInt8]], into database: StateDatabase) throws {
        _ = try begin(bodies, into: database).step()
    }

    /// A checkpoint of bodies behind those that are checkpointed.
    static func begin(_ bodies: [[UInt8]], into database: StateDatabase) throws -> Checkpoint {
        var memtable = Memtable()
        var sequence = database.meta.checkpointed.sequence
        for body in bodies {
            sequence += 1
            try memtable.add(body, at: JournalPosition(sequence: sequence, hash: sequence &* 31))
        }
        return Checkpoint(memtable, into: database)
    }

    /// The body of one cut with these effects.
    static func body(_ effects: [Effect]) -> [UInt8] {
        let logs = EffectLogs(count: 1, firstCut: 1) {}
        logs[0].lock()
        for effect in effects { logs[0].append(effect) }
        logs[0].unlock()
        var body: [UInt8] = []
        _ = logs.takeCut(into: &body)
        return body
    }

    /// A post without votes.
    static func post(_ id: UInt64, revision: UInt64, feed: UInt32 = 0) -> Effect {
        .post(
            PostState(
                counts: PostCounts(
                    id: PostID(rawValue: id),
                    upvoteCount: 0,
                    downvoteCount: 0,
                    revision: revision
                ),
                feed: FeedID(rawValue: feed),
                keepsBallots: false,
                createTimeMilliseconds: 1_000,
                updateTimeMilliseconds: 1_000,
                editRevision: revision,
                content: PostContent(title: "Post \(id)")
            )
        )
    }

    /// The hash of a store that the state is loaded into, and that takes bodies beside.
    static func storeHash(
        _ database: StateDatabase?,
        _ bodies: [[UInt8]] = []
    ) throws -> UInt64 {
        let store = FeedStore(stripeCount: 4) { 0 }
        if let database { try database.load(into: store, channels: { _, _ in }) }
        for body in bodies {
            var reader = try EffectReader(body)
            while let effect = try reader.next() { try store.apply(effect) }
        }
        return store.stateHash()
    }
}
