/// The members of a side group: the posts of a feed, or all posts of the stripe, by number.
///
/// A feed's posts are numbered in the order in which they joined, so its lists take memory for its
/// own posts only. In the group of all feeds the pieces of `PostTable` are numbered so, and a post
/// has the place in its piece that its slot has: slots that were skipped take no numbers.
struct SideMembers: ~Copyable {
    /// The feed; nil is all feeds.
    let feed: FeedID?
    /// The slots of a feed's members; for all feeds, the pieces that have members.
    private var slots = Slab<UInt32>()
    /// The number of each piece, for all feeds; `noPiece` has none.
    private var pieceNumbers = Slab<UInt32>()
    private static let noPiece = UInt32.max
    /// No member has this number or a higher one.
    private(set) var limit = 0

    /// No members.
    init(_ feed: FeedID?) { self.feed = feed }

    /// The slot of a member.
    @inline(__always)
    func slot(_ member: UInt32) -> UInt32 {
        guard feed == nil else { return slots[Int(member)] }
        let piece = slots[Int(member >> UInt32(PostTable.pieceBits))]
        return piece << UInt32(PostTable.pieceBits) | Self.place(member)
    }

    /// Takes a post in, and returns its number; O(1).
    mutating func append(_ slot: UInt32) -> UInt32 {
        guard feed == nil else {
            slots.append(slot)
            limit = slots.count
            return UInt32(limit - 1)
        }
        let piece = slot >> UInt32(PostTable.pieceBits)
        pieceNumbers.extend(to: Int(piece) + 1, with: Self.noPiece)
        if pieceNumbers[Int(piece)] == Self.noPiece {
            pieceNumbers[Int(piece)] = UInt32(slots.count)
            slots.append(piece)
        }
        let number = pieceNumbers[Int(piece)] << UInt32(PostTable.pieceBits) | Self.place(slot)
        limit = max(limit, Int(number) + 1)
        return number
    }

    /// The place of a slot or a number in its piece.
    @inline(__always)
    static func place(_ number: UInt32) -> UInt32 {
        number & (1 << UInt32(PostTable.pieceBits) - 1)
    }
}
