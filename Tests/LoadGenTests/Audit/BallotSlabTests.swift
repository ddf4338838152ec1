import LoadGen
import Testing

@Suite struct BallotSlabTests {
    @Test func keepsTheBallotsOfEachVoterAndPostApart() {
        let slab = BallotSlab(voterCount: 3, postCount: 5)
        var expected: [[BallotSet]] = Array(repeating: Array(repeating: .none, count: 5), count: 3)
        var random = RandomStream(seed: 5, thread: 0, client: 0)
        for _ in 0..<500 {
            let (voter, post) = (random.nextIndex(below: 3), random.nextIndex(below: 5))
            let set = BallotSet(Ballot.next(&random))
            if random.nextIndex(below: 2) == 0 {
                slab[voter, UInt32(post)] = set
                expected[voter][post] = set
            } else {
                slab[voter, UInt32(post)].insert(set)
                expected[voter][post].insert(set)
            }
            for voter in 0..<3 {
                for post in 0..<5 { #expect(slab[voter, UInt32(post)] == expected[voter][post]) }
            }
        }
        let tallies = (0..<5).map { post in
            var tally = BallotTally()
            for voter in 0..<3 { tally.add(expected[voter][post]) }
            return tally
        }
        #expect(slab.tallies() == tallies)
    }

    @Test func countsWhatStandsAndWhatMayStand() {
        let slab = BallotSlab(voterCount: 6, postCount: 1)
        let sets: [BallotSet] = [.up, .up, .down, .none, [.none, .up], [.up, .down]]
        for (voter, set) in sets.enumerated() { slab[voter, 0] = set }
        let tally = slab.tallies()[0]
        #expect(tally.upCount == 2 && tally.possibleUpCount == 2)
        #expect(tally.downCount == 1 && tally.possibleDownCount == 1)
    }

    @Test(arguments: [(1, 1), (7, 3), (200, 8), (10_000, 500)])
    func dealsEveryVoterToOneConnection(_ voterCount: Int, _ clientCount: Int) {
        var users: Set<UInt64> = []
        var largest = 0
        for client in 0..<clientCount {
            let share = VoterShare(
                voterCount: voterCount,
                client: client,
                clientCount: clientCount
            )
            for voter in 0..<share.count { users.insert(share.userID(UInt16(voter))) }
            largest = max(largest, share.count)
        }
        #expect(users == Set((0..<voterCount).map { 1 << 63 | UInt64($0) }))
        #expect(largest == VoterShare.largest(voterCount: voterCount, clientCount: clientCount))
    }
}
