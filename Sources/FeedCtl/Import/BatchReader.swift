internal import FeedDataset
internal import Foundation

/// Reads a file of posts batch by batch; the file need not fit into memory.
struct BatchReader {
    private let file: FileHandle
    private var reader = DatasetReader()
    private var isAtEnd = false

    /// Opens a file.
    init(path: String) throws(ImportFailure) {
        do {
            file = try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw .unreadable(path: path, reason: error.systemReason)
        }
    }

    /// The next batch; nil after the last one.
    mutating func next() throws -> PostBatch? {
        var batch = PostBatch()
        while !batch.isFull {
            if let row = try reader.next() {
                batch.append(row)
            } else if isAtEnd {
                break
            } else {
                try readPiece()
            }
        }
        return batch.isEmpty ? nil : batch
    }

    /// What is read from the file at once.
    private static let pieceByteCount = 1 << 20

    private mutating func readPiece() throws {
        if let piece = try file.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
            reader.append(piece)
        } else {
            reader.finish()
            isAtEnd = true
        }
    }
}
