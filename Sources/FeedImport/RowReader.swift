package import FeedDataset
internal import Foundation

/// Reads a file of posts row by row; the file need not fit into memory.
package struct RowReader {
    private let file: FileHandle
    private var reader = DatasetReader()
    private var isAtEnd = false

    /// Opens a file.
    package init(path: String) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path))
    }

    /// The next row; nil after the last one.
    ///
    /// Throws `DatasetError` where the file is no file of posts, and the system's error where it
    /// cannot be read.
    package mutating func next() throws -> DatasetRow? {
        while true {
            if let row = try reader.next() { return row }
            if isAtEnd { return nil }
            try readPiece()
        }
    }

    /// Large enough that reading costs nothing beside parsing.
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
