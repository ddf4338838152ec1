/// A post's key as a merge over the stripes compares it.
struct MergeEntry {
    /// The key's first part, by which almost all entries are told apart.
    var primary: UInt64
    /// The key's second part: for `top` the first eight bytes of the title.
    var secondary: UInt64
    /// Stands for the key's slot, which means nothing outside its stripe.
    var id: PostID
    /// Where the merge keeps the full title; nil until a tie asks for it.
    var title: TextRange?

    /// The entry of a key that a stripe has for a post.
    init(_ key: RankKey, _ id: PostID) {
        primary = key.primary
        secondary = key.secondary
        self.id = id
    }
}
