internal import FeedConcurrency

/// The last hour of some values, one row a second, in a ring of fixed size.
///
/// A value that is not known is NaN. The ring takes 8 bytes a value: half a megabyte for 20 columns.
package final class History: Sendable {
    /// The time from one row to the next.
    package static let step = Duration.seconds(1)
    /// The rows that are kept: an hour.
    package static let rowCount = 3_600

    private struct Ring {
        var values: [Double]
        /// When each row was taken, in milliseconds since 1970.
        var times: [Int64]
        /// The number that the next row gets; rows count from 0.
        var next = 0
    }

    /// The names of the values in a row.
    package let columns: [String]
    private let ring: Lock<Ring>

    package init(_ columns: [String]) {
        self.columns = columns
        ring = Lock(
            Ring(
                values: [Double](repeating: .nan, count: columns.count * Self.rowCount),
                times: [Int64](repeating: 0, count: Self.rowCount)
            )
        )
    }

    /// Adds a row, which takes the place of the oldest one; O(columns).
    package func append(_ row: [Double], at milliseconds: Int64) {
        precondition(row.count == columns.count, "A row has a value for each column.")
        ring.withLock { ring in
            let place = ring.next % Self.rowCount
            ring.times[place] = milliseconds
            for (column, value) in row.enumerated() {
                ring.values[place * columns.count + column] = value
            }
            ring.next += 1
        }
    }

    /// The rows after a number as JSON, with what the dashboard shows beside them; O(rows).
    ///
    /// - Parameters:
    ///   - number: The last row that the reader has; -1 for none.
    ///   - causes: Why the service is not ready.
    ///   - facts: What the service is, in a few words each.
    ///   - errors: The counts of errors.
    /// - Returns: An object; its member `next` is the number of the row to come.
    package func json(
        after number: Int,
        causes: [String],
        facts: [String],
        errors: [(reason: String, count: UInt64)]
    ) -> [UInt8] {
        var text = "{\"columns\":["
        text += columns.map(JSONText.string).joined(separator: ",")
        text += "],\"causes\":["
        text += causes.map(JSONText.string).joined(separator: ",")
        text += "],\"facts\":["
        text += facts.map(JSONText.string).joined(separator: ",")
        text += "],\"errors\":["
        text += errors.map { "[\(JSONText.string($0.reason)),\($0.count)]" }.joined(separator: ",")
        text += "],"
        ring.withLock { ring in
            // A reader of an earlier run has a number that is not reached yet: it gets all rows.
            let last = number < ring.next ? number : -1
            let first = max(last + 1, ring.next - Self.rowCount, 0)
            text += "\"next\":\(ring.next),\"rows\":["
            for row in first..<ring.next {
                let place = row % Self.rowCount
                text += row == first ? "[" : ",["
                text += "\(ring.times[place])"
                for column in 0..<columns.count {
                    text += ","
                    text += JSONText.number(ring.values[place * columns.count + column])
                }
                text += "]"
            }
            text += "]}"
        }
        return Array(text.utf8)
    }
}

/// The pieces of JSON that the history has.
private enum JSONText {
    /// A number to the tenth of a millionth; null where it is not finite.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
        // Fewer digits than a Double has: the page draws them, and each row is read a thousand times.
        let scale = 10_000_000.0
        let rounded = (value * scale).rounded() / scale
        return rounded == 0 ? "\(value)" : "\(rounded)"
    }

    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
