/// The ballots of the voters of one thread: for each voter and post, which ballots may stand.
///
/// A voter has one ballot on a post. An acknowledged vote leaves one possibility, and a vote without
/// an answer adds one. Four bits a voter and post hold them, so the memory is known before the run.
/// A place with the bits 0 was never voted on.
@safe package struct BallotSlab: ~Copyable {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let rowByteCount: Int
    private let rowCount: Int
    private let postCount: Int

    /// Places for `voterCount` voters and `postCount` posts, without any ballot.
    package init(voterCount: Int, postCount: Int) {
        rowCount = voterCount
        rowByteCount = BallotSet.byteCount(postCount: postCount)
        self.postCount = postCount
        unsafe bytes = .allocate(capacity: max(1, rowCount * rowByteCount))
        unsafe bytes.initialize(repeating: 0, count: rowCount * rowByteCount)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// The ballots of which one stands, of a voter on a post.
    package subscript(voter: Int, post: UInt32) -> BallotSet {
        get {
            let bits = unsafe bytes[place(voter, post)] >> Self.shift(post) & 0xF
            return bits == 0 ? .none : BallotSet(rawValue: bits)
        }
        nonmutating set {
            let place = place(voter, post)
            let others = unsafe bytes[place] & ~(0xF << Self.shift(post))
            unsafe bytes[place] = others | newValue.rawValue << Self.shift(post)
        }
    }

    /// For each post, how many ballots up and down stand, and how many more may.
    ///
    /// O(voters × posts).
    package func tallies() -> [BallotTally] {
        var tallies = [BallotTally](repeating: BallotTally(), count: postCount)
        for voter in 0..<rowCount {
            for place in 0..<rowByteCount where unsafe bytes[voter * rowByteCount + place] != 0 {
                for post in 2 * place..<min(2 * place + 2, postCount) {
                    tallies[post].add(self[voter, UInt32(post)])
                }
            }
        }
        return tallies
    }

    private func place(_ voter: Int, _ post: UInt32) -> Int {
        precondition(voter >= 0 && voter < rowCount && post < postCount, "No such ballot.")
        return voter * rowByteCount + Int(post / 2)
    }

    private static func shift(_ post: UInt32) -> UInt8 { post % 2 == 0 ? 0 : 4 }
}

/// What a run knows of the ballots on one post.
package struct BallotTally: Sendable, Equatable {
    /// Ballots up that stand.
    package private(set) var upCount: UInt64 = 0
    /// More ballots up that may stand.
    package private(set) var possibleUpCount: UInt64 = 0
    /// Ballots down that stand.
    package private(set) var downCount: UInt64 = 0
    /// More ballots down that may stand.
    package private(set) var possibleDownCount: UInt64 = 0

    /// No ballot.
    package init() {}

    /// Adds the ballots of which one voter's stands.
    package mutating func add(_ ballots: BallotSet) {
        if ballots == .up { upCount += 1 } else if ballots.contains(.up) { possibleUpCount += 1 }
        if ballots == .down {
            downCount += 1
        } else if ballots.contains(.down) {
            possibleDownCount += 1
        }
    }
}
