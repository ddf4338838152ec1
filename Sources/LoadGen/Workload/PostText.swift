/// The texts of the posts a run creates.
package enum PostText {
    /// The title of post `number` of `maker`.
    ///
    /// It starts with a scattered number in base 36, because orders compare the first 8 bytes of
    /// titles, and equal ones would cost more than real titles do.
    package static func title(maker: Int, number: Int) -> String {
        let name = UInt64(truncatingIfNeeded: maker) << 32 | UInt64(truncatingIfNeeded: number)
        let digits = String(RandomStream.mix(name), radix: 36)
        return "\(digits.prefix(8)) \(titleMark) \(maker).\(number)"
    }

    /// The text of every post, long enough for feeds that want one and short enough for all.
    package static let body = "A post that the load generator made."

    /// Whether a post with this title may come from a load generator.
    package static func isTitle(_ title: String) -> Bool { title.contains(" \(titleMark) ") }

    /// The maker number of the posts that are created before the run.
    package static let prefillMaker = 0

    private static let titleMark = "loadgen post"
}
