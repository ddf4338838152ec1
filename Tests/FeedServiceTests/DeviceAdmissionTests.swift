import FeedConcurrency
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

@Suite struct DeviceAdmissionTests {
    /// A clock that is set by hand.
    private let now = Locked(MonotonicInstant(nanoseconds: 1_000_000_000_000))

    private func admission(_ limit: Int) -> DeviceAdmission {
        DeviceAdmission(limit: limit, clock: { [now] in now.withLock { $0 } })
    }

    private func pass(_ duration: Duration) {
        now.withLock { $0 = $0.advanced(by: duration) }
    }

    /// How many devices of a host are admitted until one is refused.
    private func count(
        _ admission: DeviceAdmission,
        _ host: ClientIdentity,
        _ standing: DeviceAdmission.Standing
    ) -> Int {
        var count = 0
        while count < 10_000, admission.admit(host, standing) == nil { count += 1 }
        return count
    }

    @Test func admitsSoManyAtOnceAndThenAsManyAMinute() {
        let admission = admission(60)
        #expect(count(admission, .address(1), .established) == 60)
        #expect(admission.admit(.address(1), .established) == .seconds(1))
        #expect(admission.refusedCount == 2)
        #expect(count(admission, .address(2), .established) == 60)
        pass(.milliseconds(900))
        #expect(admission.admit(.address(1), .established) == .milliseconds(100))
        // No minute has to end: each second brings one.
        pass(.milliseconds(100))
        #expect(count(admission, .address(1), .established) == 1)
        pass(.seconds(20))
        #expect(count(admission, .address(1), .established) == 20)
        pass(.seconds(3600))
        #expect(count(admission, .address(1), .established) == 60)
    }

    @Test func oneClientCannotTakeWhatIsForOthersBehindTheSameProxy() {
        let admission = admission(400)
        let proxy = ClientIdentity.address(7)
        // One connection that invents devices, others that bring one each, one that was here before.
        #expect(count(admission, proxy, .repeated) == 200)
        #expect(count(admission, proxy, .fresh) == 100)
        #expect(count(admission, proxy, .established) == 100)
        // New tokens are first for connections with the larger share.
        pass(.seconds(15))
        #expect(admission.admit(proxy, .repeated) != nil)
        #expect(admission.admit(proxy, .fresh) != nil)
        #expect(count(admission, proxy, .established) == 100)
    }

    @Test func hostsOfOneNetworkShare() {
        let admission = admission(3)
        let hosts: [SocketAddress.Host] = [
            .v6(high: 9, low: 1), .v6(high: 9, low: 2), .v6(high: 9, low: 3),
        ]
        for host in hosts { #expect(admission.admit(ClientIdentity(host), .established) == nil) }
        #expect(admission.admit(ClientIdentity(.v6(high: 9, low: 4)), .established) != nil)
        #expect(admission.admit(ClientIdentity(.v6(high: 8, low: 1)), .established) == nil)
        #expect(ClientIdentity(.v6(high: 0, low: 0xFFFF_0000_0001)) == ClientIdentity(.v4(1)))
    }

    @Test func boundsTheHostsThatItKeeps() {
        let buckets = buckets(burst: 2)
        let hosts = 0..<UInt32(HostBuckets.maximumHostCount + 20_000)
        #expect(hosts.allSatisfy { buckets.take(from: .address($0)) == nil })
        #expect(buckets.hostCount <= HostBuckets.maximumHostCount)
        // Full buckets go first.
        pass(.seconds(60))
        #expect(hosts.allSatisfy { buckets.take(from: .network(UInt64($0))) == nil })
        #expect(buckets.hostCount <= HostBuckets.maximumHostCount)
    }

    @Test func looksAtFewHostsToMakeRoom() {
        let buckets = buckets(burst: 2)
        let hosts = 0..<UInt32(HostBuckets.maximumHostCount)
        for host in hosts { _ = buckets.take(from: .address(host)) }
        #expect(buckets.lookCount == 0)
        var mostLooks = 0
        for number in 0..<10_000 as Range<UInt64> {
            let before = buckets.lookCount
            #expect(buckets.take(from: .network(number)) == nil)
            mostLooks = max(mostLooks, buckets.lookCount - before)
        }
        #expect(mostLooks == BoundedTable<ClientIdentity, UInt64>.lookLimit)
        // A full bucket is taken at the first look.
        pass(.seconds(60))
        let before = buckets.lookCount
        for host in hosts.prefix(100) { _ = buckets.take(from: .network(.max - UInt64(host))) }
        #expect(buckets.lookCount == before + 100)
    }

    @Test func hostsThatUsedUpTheirTokensAreKeptBeforeOthers() {
        let buckets = buckets(burst: 2)
        let usedUp = ClientIdentity.network(.max)
        for _ in 0..<2 { #expect(buckets.take(from: usedUp) == nil) }
        for number in 0..<UInt32(3 * HostBuckets.maximumHostCount) {
            #expect(buckets.take(from: .address(number)) == nil)
        }
        #expect(buckets.take(from: usedUp) != nil)
    }

    private func buckets(burst: Int) -> HostBuckets {
        HostBuckets(burst: burst, countPerMinute: 2, clock: { [now] in now.withLock { $0 } })
    }
}
