package import FeedJournal

/// A copy of a file that does not change meanwhile, made and synced some bytes at a time.
///
/// One sync of a large copy at its end would hold up every other sync of the disk.
package final class StateCopy {
    /// The bytes that are read and written at once.
    private static let pieceByteCount = 1 << 20

    /// The bytes of the whole copy.
    package let byteCount: Int
    /// The bytes that are copied.
    package private(set) var copiedByteCount = 0

    private let stepByteCount: Int
    private let source: any JournalFile
    private let target: any JournalFile

    /// Begins a copy of a file's first bytes into an empty file, so many in each step.
    package init(
        of source: any JournalFile,
        byteCount: Int,
        to target: any JournalFile,
        stepByteCount: Int = BackupOptions().stepByteCount
    ) {
        self.stepByteCount = stepByteCount
        self.source = source
        self.byteCount = byteCount
        self.target = target
    }

    /// Copies the next bytes; returns whether all are copied and durable.
    package func step() throws(FileError) -> Bool {
        let end = min(copiedByteCount + stepByteCount, byteCount)
        while copiedByteCount < end {
            let range = copiedByteCount..<min(copiedByteCount + Self.pieceByteCount, end)
            let bytes = try source.read(range)
            guard bytes.count == range.count else {
                throw FileError("read all of", source.name, code: Self.inputOutputError)
            }
            try target.write(bytes.span, at: range.lowerBound)
            copiedByteCount = range.upperBound
        }
        try target.sync()
        return copiedByteCount == byteCount
    }

    /// EIO: the file is shorter than it was.
    private static var inputOutputError: Int32 { 5 }
}

@available(*, unavailable)
extension StateCopy: Sendable {}
