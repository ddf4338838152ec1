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

        /// The place of a viewer; nil before its first mark.
        func place(of viewer: VoterID) -> Int? { places[viewer.rawValue] }

        /// Changes the marks of a viewer; returns by how many units.
        mutating func change(_ viewer: VoterID, _ body: (inout ViewerMarks) -> Void) -> Int {
            var unitsBefore = 0
            let place: Int
            if let known = places[viewer.rawValue] {
                place = known
                unitsBefore = RankingLimits.viewerUnitCount + viewers[place].marks.count
            } else {
                place = viewers.count
                places[viewer.rawValue] = place
                viewers.append((viewer, ViewerMarks()))
            }
            body(&viewers[place].marks)
            return RankingLimits.viewerUnitCount + viewers[place].marks.count - unitsBefore
        }
    }

    /// The number of shards.
    static let shardCount = 64

    private let shards = InlineArray<64, Lock<Shard>> { _ in Lock(Shard()) }
    private let deviceUnits = Atomic<Int>(0)
    private let userUnits = Atomic<Int>(0)

    /// A copy of a viewer's marks; nil where there are none.
    func marks(of viewer: VoterID) -> ViewerMarks? {
        shards[Self.shard(of: viewer)].withLock { shard in
            shard.place(of: viewer).map { shard.viewers[$0].marks }
        }
    }

    /// Changes the marks of a viewer.
    func change(_ viewer: VoterID, _ body: (inout ViewerMarks) -> Void) {
        let units = shards[Self.shard(of: viewer)].withLock { $0.change(viewer, body) }
        if viewer.hasUserNumber {
            userUnits.wrappingAdd(units, ordering: .relaxed)
        } else {
            deviceUnits.wrappingAdd(units, ordering: .relaxed)
        }
    }

    /// Refuses a viewer so many more marks where there is no room for them.
    ///
    /// Threads that ask at once may pass the limits by a call each.
    func checkRoom(for count: Int, of viewer: VoterID) throws(RankingError) {
        let limit =
            viewer.hasUserNumber
            ? RankingLimits.maximumUserMarkCount : RankingLimits.maximumDeviceMarkCount
        guard (marks(of: viewer)?.count ?? 0) + count <= limit else {
            throw .tooManyMarks(limit: limit)
        }
        let all = RankingLimits.maximumMarkUnitCount
        let devices = deviceUnits.load(ordering: .relaxed)
        let users = userUnits.load(ordering: .relaxed)
        let added = count + RankingLimits.viewerUnitCount
        guard devices + users + added <= all else { throw .marksAreFull(limit: all) }
        guard viewer.hasUserNumber || devices + added <= all / 2 else {
            throw .marksAreFull(limit: all / 2)
        }
    }

    /// The units of all viewers' marks.
    var unitCount: Int {
        deviceUnits.load(ordering: .relaxed) + userUnits.load(ordering: .relaxed)
    }

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
    func forEach(_ body: (VoterID, ViewerMarks) -> Void) {
        for shard in 0..<Self.shardCount {
            shards[shard].withLock { shard in
                for viewer in shard.viewers { body(viewer.id, viewer.marks) }
            }
        }
    }

    private static func shard(of viewer: VoterID) -> Int { Int(viewer.rawValue) % shardCount }
}

extension VoterID {
    /// Whether the viewer is a user and no device.
    fileprivate var hasUserNumber: Bool { rawValue >= 1 << 29 }
}
