/// The name that somebody may have meant.
package enum Suggestion {
    /// The most letters to insert and remove; two letters in the wrong order are one of each.
    private static let maximumDistance = 3

    /// The end of a sentence with the name that is nearest to a wrong one, as `; did you mean "list"?`; a
    /// full stop where none is near.
    package static func text(
        for wrong: String,
        among names: [String],
        shown: (String) -> String = { $0 }
    ) -> String {
        let distances = names.map { (name: $0, count: $0.difference(from: wrong).count) }
        guard let nearest = distances.min(by: { $0.count < $1.count }),
            nearest.count <= min(maximumDistance, wrong.count - 1)
        else { return "." }
        return "; did you mean \"\(shown(nearest.name))\"?"
    }
}
