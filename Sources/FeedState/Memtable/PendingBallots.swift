import FeedRanking

/// The newest ballot of each voter on each post where it changed.
///
/// The ballots of a post are a list through the entries, so that a checkpoint takes them post by
/// post without sorting all of them.
struct PendingBallots {
    /// A voter on a post.
    private struct Key: Hashable {
        var post: UInt64
        var voter: UInt32
    }

    /// A voter's ballot, and the one of the post that came before.
    private struct Entry {
        var voter: VoterID
        var next: Int32
        var direction: VoteDirection?
    }

    private var places: [Key: Int32] = [:]
    private var entries: [Entry] = []
    private var firstOfPost: [UInt64: Int32] = [:]

    /// Keeps a ballot, or that none stands any more, in place of an earlier one; O(1).
    mutating func set(_ post: PostID, _ voter: VoterID, _ direction: VoteDirection?) {
        let key = Key(post: post.rawValue, voter: voter.rawValue)
        if let place = places[key] {
            entries[Int(place)].direction = direction
            return
        }
        let place = Int32(entries.count)
        entries.append(
            Entry(
                voter: voter,
                next: firstOfPost.updateValue(place, forKey: post.rawValue) ?? -1,
                direction: direction
            )
        )
        places[key] = place
    }

    /// Fills the array with a post's ballots, in the order of voters; O(k log k).
    func read(_ post: UInt64, into ballots: inout [(voter: VoterID, direction: VoteDirection?)]) {
        ballots.removeAll(keepingCapacity: true)
        guard !entries.isEmpty else { return }
        var place = firstOfPost[post] ?? -1
        while place >= 0 {
            let entry = entries[Int(place)]
            ballots.append((entry.voter, entry.direction))
            place = entry.next
        }
        ballots.sort { $0.voter.rawValue < $1.voter.rawValue }
    }

    /// About the bytes that the ballots take.
    var byteCount: Int { places.capacity * 25 + entries.count * 12 + firstOfPost.capacity * 13 }
}
