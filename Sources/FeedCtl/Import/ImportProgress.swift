internal import FeedImport

/// What of a file is in the feed: all up to a line, and perhaps rows behind it.
///
/// Several batches are in flight. Of three with the lines 2 to 257, 258 to 513 and 514 to 769 the second may
/// fail and the third not: then all up to line 257 is in, and lines 514 to 769 are.
package struct ImportProgress: Equatable, Sendable {
    /// How many posts were imported.
    package private(set) var importedCount = 0
    /// All rows that begin up to this line were imported, or left out and reported.
    package private(set) var throughLine: Int
    /// The rows behind a gap that were imported, too.
    package private(set) var linesBehind: [ClosedRange<Int>] = []
    private var batchCount = 0

    /// Nothing yet of a file whose rows before a line are not imported.
    package init(fromLine firstLine: Int) {
        throughLine = firstLine - 1
    }

    /// Adds the outcome of a batch.
    package mutating func add(number: Int, rows: ClosedRange<Int>, importedCount count: Int) {
        importedCount += count
        guard number == batchCount else { return linesBehind.append(rows) }
        batchCount += 1
        throughLine = rows.upperBound
    }

    /// Sentences for what is in, and how to go on.
    package var description: String {
        let count = "\(importedCount) posts were imported before."
        guard batchCount > 0 || !linesBehind.isEmpty else { return count }
        let behind = linesBehind.map { " Lines \($0.lowerBound) to \($0.upperBound) are in, too." }
        return "\(count) All up to line \(throughLine) is in; "
            + "--from-line \(throughLine + 1) goes on." + behind.joined()
    }
}
