internal import FeedText

/// Names and values of one thing, a line each, for people.
package struct FieldList {
    private var fields: [(name: String, value: String)] = []

    /// No fields.
    package init() {}

    /// Adds a field; one without a value is left out, and the value is made safe to print.
    package mutating func add(_ name: String, _ value: String) {
        guard !value.isEmpty else { return }
        fields.append((name, VisibleText.line(value)))
    }

    /// The fields with their values aligned, and a line break after each line.
    package func rendered() -> String {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }.joined()
    }
}
