import FeedConcurrency
import Synchronization

/// The marks of all viewers, in shards with a lock each.
///
/// A thread that holds the lock of a shard takes no other lock. So a caller that marks a post looks
/// the post up first, and a caller that reads marks takes a copy, which shares the memory.
struct MarkTable: ~Copyable, Sendable {
    /// The viewers whose numbers end alike.
    struct Shard {
        private var places: [UInt32: Int] = [:]
        /// The viewers, in the order of their first marks; none ever leaves.
        private(set) var viewers: [(id: VoterID, marks: ViewerMarks)] = []

        func place(of viewer: VoterID) -> Int? { places[viewer.rawValue] }

        /// Changes the marks of a viewer; returns by how many units.
        ///
        /// A body that throws changes nothing. A viewer joins with its first mark.
        mutating func change<Failure: Error>(
            _ viewer: VoterID,
            _ body: (inout ViewerMarks) throws(Failure) -> Void
        ) throws(Failure) -> Int {
            guard let place = places[viewer.rawValue] else {
                var marks = ViewerMarks()
                try body(&marks)
                guard marks.count > 0 else { return 0 }
                places[viewer.rawValue] = viewers.count
                viewers.append((viewer, marks))
                return RankingLimits.viewerUnitCount + marks.count
            }
            let countBefore = viewers[place].marks.count
            try body(&viewers[place].marks)
            return viewers[place].marks.count - countBefore
        }
    }

    static let shardCount = 64

    private let shards = FixedSlab(count: shardCount) { Lock(Shard()) }
    private let deviceUnits = Atomic<Int>(0)
    private let userUnits = Atomic<Int>(0)

    /// A copy of a viewer's marks; nil where there are none.
    func marks(of viewer: VoterID) -> ViewerMarks? {
        shards[Self.shard(of: viewer)].withLock { shard in
            shard.place(of: viewer).map { shard.viewers[$0].marks }
        }
    }

    func change<Failure: Error>(
        _ viewer: VoterID,
        _ body: (inout ViewerMarks) throws(Failure) -> Void
    ) throws(Failure) {
        let units = try shards[Self.shard(of: viewer)].withLock {
            (shard) throws(Failure) -> Int in try shard.change(viewer, body)
        }
        if viewer.isUser {
            userUnits.wrappingAdd(units, ordering: .relaxed)
        } else {
            deviceUnits.wrappingAdd(units, ordering: .relaxed)
        }
    }

    /// Refuses a viewer so many more marks on single posts beside those that it has.
    func checkRoom(
        forPosts count: Int,
        of viewer: VoterID,
        beside marks: ViewerMarks
    ) throws(RankingError) {
        guard count > 0 else { return }
        let limit =
            viewer.isUser
            ? RankingLimits.maximumUserMarkCount : RankingLimits.maximumDeviceMarkCount
        guard marks.posts.count + count <= limit else { throw .tooManyMarks(limit: limit) }
        try checkRoom(forUnits: count, of: viewer)
    }

    /// Refuses a viewer so many more marks of any kind where all viewers' marks are too many.
    ///
    /// Threads that ask at once may pass the limits by a call each.
    func checkRoom(forUnits count: Int, of viewer: VoterID) throws(RankingError) {
        guard count > 0 else { return }
        let all = RankingLimits.maximumMarkUnitCount
        let devices = deviceUnits.load(ordering: .relaxed)
        let users = userUnits.load(ordering: .relaxed)
        let added = count + RankingLimits.viewerUnitCount
        guard devices + users + added <= all else { throw .marksAreFull(limit: all) }
        guard viewer.isUser || devices + added <= all / 2 else {
            throw .marksAreFull(limit: all / 2)
        }
    }

    var unitCount: Int { deviceUnits.load(ordering: .relaxed) + userUnits.load(ordering: .relaxed) }

    /// The viewers of a shard from a place on, until they have so many marks together.
    func viewers(ofShard shard: Int, from place: Int, markCount: Int) -> [VoterID] {
        shards[shard].withLock { shard in
            var found: [VoterID] = []
            var count = 0
            for index in min(place, shard.viewers.count)..<shard.viewers.count
            where count < markCount {
                found.append(shard.viewers[index].id)
                count += 1 + shard.viewers[index].marks.posts.count
            }
            return found
        }
    }

    /// Calls the body with each viewer and its marks, in no order.
    func forEachViewer(_ body: (VoterID, ViewerMarks) -> Void) {
        for shard in 0..<Self.shardCount {
            shards[shard].withLock { shard in
                for viewer in shard.viewers { body(viewer.id, viewer.marks) }
            }
        }
    }

    private static func shard(of viewer: VoterID) -> Int { Int(viewer.rawValue) % shardCount }
}

/// The place of a sweep through the marks of all viewers: where the next step begins.
package struct MarkSweep: Sendable {
    /// The marks that a step looks at, and those of one viewer beyond it.
    static let stepMarkCount = 2_048

    var shard = 0
    var place = 0

    package init() {}
}
