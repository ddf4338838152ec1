/// Which columns of a file are read, and what of a post none says.
package struct ColumnUse: Encodable, Equatable, Sendable {
    /// The names of the columns that are read, by their fields.
    package let read: [String: String]
    /// The names of the others, as far as they have names.
    package let unread: [String]
    /// The usual names of columns for what the file has none for.
    package let missing: [String]

    init(_ names: [String], _ places: [DatasetField: Int]) {
        let pairs = places.map { ($0.key.rawValue, names[$0.value].printableStart) }
        read = Dictionary(uniqueKeysWithValues: pairs)
        let read = Set(places.values)
        unread = names.indices.filter { !read.contains($0) && !names[$0].isEmpty }
            .map { names[$0].printableStart }
        missing = DatasetField.allCases.filter { places[$0] == nil }.map { $0.usualNames[0] }
    }

    /// Whether no column says it.
    package func lacks(_ field: DatasetField) -> Bool { read[field.rawValue] == nil }

    /// A sentence for what is not read and one for what is missing, safe to print; empty where neither is.
    package var description: String {
        var sentences: [String] = []
        if !unread.isEmpty { sentences.append("Columns that are not read: \(unread.quotedList).") }
        if !missing.isEmpty {
            let names = DatasetField.allCases.filter(lacks).map { "\($0.rawValue)=NAME" }
            sentences.append(
                "There is no column \(missing.joined(separator: ", ")): "
                    + "--columns \(names.joined(separator: ",")) names others."
            )
        }
        return sentences.joined(separator: " ")
    }
}
