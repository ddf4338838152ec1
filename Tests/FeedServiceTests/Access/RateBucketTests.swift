import FeedConcurrency
import FeedService
import FeedTransport
import Testing

/// The tokens of an identity's limits, on a clock that is handed in.
@Suite struct RateBucketTests {
    private static func time(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds(milliseconds))
    }

    @Test func holdsTheTokensOfASecondAndRefillsSteadily() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 4, at: Self.time(0)) == 4)
        #expect(bucket.take(upTo: 64, at: Self.time(0)) == 6)
        #expect(bucket.take(upTo: 64, at: Self.time(99)) == 0)
        #expect(bucket.take(upTo: 64, at: Self.time(350)) == 3)
        #expect(bucket.take(upTo: 64, at: Self.time(60_000)) == 10)
    }

    @Test func aRequestOfManyTokensIsServedWhereThereIsOneAndPaidLater() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.takeWhole(25, at: Self.time(0)) == true)
        #expect(bucket.takeWhole(1, at: Self.time(1_500)) == false)
        #expect(bucket.take(upTo: 1, at: Self.time(1_500)) == 0)
        #expect(bucket.takeWhole(1, at: Self.time(1_600)) == true)
        #expect(bucket.takeWhole(1, at: Self.time(1_600)) == false)
    }

    @Test func unusedTokensComeBack() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 10, at: Self.time(0)) == 10)
        bucket.giveBack(7)
        #expect(bucket.take(upTo: 64, at: Self.time(0)) == 7)
    }

    @Test func withoutALimitThereIsNoEnd() {
        let bucket = RateBucket(countPerSecond: 0)
        #expect(bucket.take(upTo: 1_000, at: Self.time(0)) == 1_000)
        #expect(bucket.takeWhole(1_000, at: Self.time(0)) == true)
        #expect(bucket.fullNanoseconds == 0)
    }

    @Test func refusedRequestsComeBackOneAfterAnother() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 10, at: Self.time(0)) == 10)
        let waits = (0..<3).map { _ in bucket.retryTime(at: Self.time(0)) }
        #expect(waits == [.milliseconds(100), .milliseconds(200), .milliseconds(300)])
        // Those who do not wait push the time away, up to a bound.
        for _ in 0..<1_000 { _ = bucket.retryTime(at: Self.time(0)) }
        #expect(bucket.retryTime(at: Self.time(0)) == RateBucket.longestRetryTime)
        #expect(bucket.retryTime(at: Self.time(10_000)) == .zero)
    }

    @Test func aRateBelowOneTokenASecondCannotBeAndOneIs() {
        let bucket = RateBucket(countPerSecond: 1)
        #expect(bucket.take(upTo: 2, at: Self.time(0)) == 1)
        #expect(bucket.take(upTo: 2, at: Self.time(999)) == 0)
        #expect(bucket.take(upTo: 2, at: Self.time(1_000)) == 1)
    }

    @Test("loops that take at the same time get no token twice")
    func loopsShareABucket() async {
        let allowance = Bucket()
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<10_000).reduce(0) { sum, _ in
                        sum + allowance.bucket.take(upTo: 3, at: Self.time(0))
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 50_000)
    }

    private final class Bucket: Sendable {
        let bucket = RateBucket(countPerSecond: 50_000)
    }
}

/// The connections of identities, and what is remembered of those that have left.
@Suite struct IdentityAdmissionTests {
    private let clock = ManualClock()

    private func admission(connections: Int = 2, votes: Int = 10) -> IdentityAdmission {
        var limits = IdentityLimits()
        limits.connectionCount = connections
        limits.votesPerSecond = votes
        clock.advance(by: .seconds(1_000))
        return IdentityAdmission(limits, clock: { [clock] in clock.now })
    }

    private func enter(
        _ admission: IdentityAdmission,
        _ identity: ClientIdentity,
        isForced: Bool = false
    ) -> IdentityAllowance? {
        guard case .admitted(let allowance) = admission.enter(identity, isForced: isForced) else {
            return nil
        }
        return allowance
    }

    @Test func boundsTheConnectionsOfEachIdentity() throws {
        let admission = admission()
        let first = try #require(enter(admission, .address(1)))
        #expect(enter(admission, .address(1)) === first)
        #expect(enter(admission, .address(1)) == nil)
        #expect(enter(admission, .key(1)) != nil)
        #expect(enter(admission, .address(1), isForced: true) === first)
        for _ in 0..<2 { admission.leave(first) }
        #expect(enter(admission, .address(1)) === first)
        #expect(admission.identityCount == 2)
    }

    @Test("who comes anew finds the bucket as it was left, until it is full")
    func remembersWhatWasTaken() throws {
        let admission = admission()
        let first = try #require(enter(admission, .address(1)))
        #expect(first.votes.take(upTo: 10, at: clock.now) == 10)
        admission.leave(first)
        #expect(admission.identityCount == 0)
        clock.advance(by: .milliseconds(300))
        let second = try #require(enter(admission, .address(1)))
        #expect(second !== first)
        #expect(second.votes.take(upTo: 10, at: clock.now) == 3)
    }
}
