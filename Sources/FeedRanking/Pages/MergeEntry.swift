/// A post's key as a merge over the stripes compares it.
struct MergeEntry {
    var primary: UInt64
    var secondary: UInt64
    var id: PostID
    /// Where the merge keeps the full title; nil until a tie asks for it.
    var title: TextRange?

    init(_ key: RankKey, _ id: PostID) {
        primary = key.primary
        secondary = key.secondary
        self.id = id
    }
}
