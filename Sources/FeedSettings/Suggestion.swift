/// The name that somebody may have meant.
enum Suggestion {
    /// The most letters that a name with a typing error may be away from the one that was meant.
    private static let maximumDistance = 3

    /// The name that is nearest to a wrong one, as `; did you mean "threads"?`; empty if none is near.
    static func text(for wrong: String, among names: [String], quote: String = "\"") -> String {
        let wanted = plain(wrong)
        let nearest = names.map { (name: $0, distance: distance(wanted, plain($0))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= min(maximumDistance, wanted.count / 2) else {
            return ""
        }
        return "; did you mean \(quote)\(nearest.name)\(quote)?"
    }

    /// A name without what is written in different ways: case, dashes and underscores.
    private static func plain(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// The letters to insert, delete or replace between two names (Levenshtein).
    ///
    /// O(product of the lengths).
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
