import FeedConcurrency
import FeedRanking
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// The posts of an hour, and who is known to have made which.
@Suite struct PostAdmissionTests {
    private let clock = ManualClock()

    private func admission(
        posts: PostLimits.Hourly,
        bytes: PostLimits.Hourly = .init(host: 0, device: 0, user: 0)
    ) -> PostAdmission {
        var limits = PostLimits()
        limits.countPerHour = posts
        limits.bytesPerHour = bytes
        return PostAdmission(limits) { [clock] in clock.now }
    }

    /// How many posts are admitted until one is refused.
    private func count(_ admission: PostAdmission, _ identities: [ClientIdentity]) -> Int {
        var count = 0
        while count < 1_000,
            admission.admit(postCount: 1, byteCount: 100, by: identities) == nil
        {
            count += 1
        }
        return count
    }

    @Test("T-POST-1: the posts of an hour at once, then one each time that its share has passed")
    func countsPostsOfAnHour() {
        let admission = admission(posts: .init(host: 60, device: 20, user: 30))
        let host = ClientIdentity.address(1)
        #expect(count(admission, [host, .device(1, 2)]) == 20)
        #expect(count(admission, [host, .user(7)]) == 30)
        // A device that is new helps no further than what the host has left.
        #expect(count(admission, [host, .device(3, 4)]) == 10)
        let excess = admission.admit(postCount: 1, byteCount: 1, by: [host, .device(5, 6)])
        #expect(excess?.identity == host && excess?.limit == 60)
        #expect(excess?.isOfBytes == false && excess?.wait == .seconds(60))
        #expect(admission.refusedCount == 4)
        #expect(count(admission, [.address(2)]) == 60)
        // A user has one limit behind all hosts.
        #expect(count(admission, [.address(3), .user(7)]) == 0)
        clock.advance(by: .seconds(120))
        #expect(count(admission, [host, .user(7)]) == 1)
        #expect(count(admission, [host]) == 1)
        clock.advance(by: .seconds(3_600))
        #expect(count(admission, [host]) == 60)
    }

    @Test("T-POST-1: bytes count beside posts, and a refused post takes nothing")
    func countsBytesOfAnHour() {
        let admission = admission(
            posts: .init(host: 100, device: 0, user: 0),
            bytes: .init(host: 1_000, device: 0, user: 500)
        )
        let user: [ClientIdentity] = [.address(1), .user(7)]
        #expect(admission.admit(postCount: 1, byteCount: 500, by: user) == nil)
        let excess = admission.admit(postCount: 0, byteCount: 5, by: user)
        #expect(excess?.identity == .user(7) && excess?.isOfBytes == true)
        #expect(excess?.wait == .seconds(36))
        // The host has all of its other half.
        #expect(admission.admit(postCount: 1, byteCount: 500, by: [.address(1)]) == nil)
        #expect(admission.admit(postCount: 1, byteCount: 1, by: [.address(1)])?.limit == 1_000)
    }

    @Test("T-POST-4: the makers of the latest posts are known, and since when")
    func forgetsTheOldestOrigins() {
        let origins = PostOrigins(at: 1_000)
        func origin(_ id: UInt64) -> PostOrigins.Origin {
            .init(host: .address(UInt32(id)), device: Device16(high: id, low: 0))
        }
        let count = UInt64(PostOrigins.count)
        for id in [1, 2, count] {
            origins.note(PostID(rawValue: id), origin(id), at: 2_000 + Int64(id))
        }
        #expect(origins.knownSince == 1_000)
        #expect(origins[PostID(rawValue: 1)] == origin(1))
        #expect(origins[PostID(rawValue: 3)] == nil)
        origins.note(PostID(rawValue: count + 2), origin(count + 2), at: 9_000)
        #expect(origins[PostID(rawValue: 2)] == nil)
        #expect(origins[PostID(rawValue: count + 2)] == origin(count + 2))
        #expect(origins[PostID(rawValue: count)] == origin(count))
        #expect(origins.knownSince == 2_003)
    }

    @Test("the memory of a process is that of the machine, or of the least of its control groups")
    func readsTheMemoryOfTheProcess() throws {
        let root = try TemporaryDirectory()
        func write(_ path: String, _ text: String) throws {
            let file = URL(filePath: root.path + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        #expect(ProcessMemory(root: root.path).byteCount == 0)
        try write("proc/meminfo", "MemFree:  9 kB\nMemTotal:       2048 kB\n")
        try write("proc/self/cgroup", "0::/system.slice/feed.service\n")
        #expect(ProcessMemory(root: root.path).byteCount == 2_048 << 10)
        try write("sys/fs/cgroup/system.slice/feed.service/memory.max", "max\n")
        try write("sys/fs/cgroup/system.slice/memory.max", "1048576\n")
        #expect(ProcessMemory(root: root.path).byteCount == 1_048_576)
        try write("sys/fs/cgroup/memory.max", "524288\n")
        #expect(ProcessMemory(root: root.path).byteCount == 524_288)
    }
}
