import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// One host's watches beside those of others.
@Suite(.timeLimit(.minutes(2))) struct WatchShareTests {
    /// Takes watches until one is refused; their number.
    private static func takeAll(_ admission: WatchAdmission, _ peer: ClientIdentity) -> Int {
        var count = 0
        while (try? admission.admit(peer, mayHaveAll: false)) != nil { count += 1 }
        return count
    }

    @Test func tenHostsThatWantAllLeaveSomeToOthers() {
        let admission = WatchAdmission(limit: 12_000)
        let counts = (0..<10).map { Self.takeAll(admission, .address($0)) }
        #expect(counts.first == 1_334)
        #expect(counts.reduce(0, +) == admission.count)
        #expect(12_000 - admission.count >= 3_690)
        #expect(Self.takeAll(admission, .address(10)) > 400)
        #expect(throws: WatchAdmission.Refusal.hostIsFull(1_334)) {
            try admission.admit(.address(0), mayHaveAll: false)
        }
        #expect(admission.largest(2).map { $0.count } == [1_334, counts[1]])
    }

    @Test func endsGiveTheShareBack() throws {
        let admission = WatchAdmission(limit: 100)
        let count = Self.takeAll(admission, .network(1))
        for _ in 0..<count { admission.release(.network(1)) }
        #expect(admission.count == 0)
        #expect(admission.largest(1).isEmpty)
        #expect(Self.takeAll(admission, .network(1)) == count)
    }

    @Test func aServiceMayHaveAll() throws {
        let admission = WatchAdmission(limit: 20)
        for _ in 0..<20 { try admission.admit(.key(1), mayHaveAll: true) }
        #expect(throws: WatchAdmission.Refusal.full) {
            try admission.admit(.key(1), mayHaveAll: true)
        }
    }

    @Test("T-WATCH-10: a host has a share of the watches, and the statistics name it")
    func hostsHaveShares() async throws {
        try await withTestKeys {
            $0.limits.maximumWatchCount = 20
            $0.limits.identities.limitsLoopback = true
        } _: { port, keys in
            let watch = WatchPostsRequest(topCount: 1)
            let greedy = try WatchingClient(port: port, from: 0x7f00_0002)
            for _ in 0..<3 { #expect(try greedy.copies[greedy.watch(watch)]?.end == nil) }
            let again = try WatchingClient(port: port, from: 0x7f00_0002)
            let refusal = try again.copies[again.watch(watch)]?.end
            #expect(refusal?.reason == .tooManyWatches)
            #expect(
                refusal?.message
                    == "Your host has 3 watches, which is its share of the service's 20 now."
            )
            let other = try WatchingClient(port: port, from: 0x7f00_0003)
            #expect(try other.copies[other.watch(watch)]?.end == nil)
            let stranger = try WireClient(port: port, from: 0x7f00_0003)
            #expect(try Self.watchingPeers(stranger) == [])
            let reader = try WireClient(port: port)
            let hello = HelloRequest(serviceKey: keys.reader.bytes)
            #expect(try reader.refusal(.hello(hello)) == nil)
            #expect(
                try Self.watchingPeers(reader) == [
                    WatchingPeer(peer: "127.0.0.2", watchCount: 3),
                    WatchingPeer(peer: "127.0.0.3", watchCount: 1),
                ]
            )
        }
    }

    private static func watchingPeers(_ client: WireClient) throws -> [WatchingPeer]? {
        guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
            return nil
        }
        return stats.watchingPeers
    }
}
