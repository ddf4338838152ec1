package import FeedDataset
internal import Foundation

/// Reads a file of posts row by row; the file need not fit into memory.
package struct RowReader {
    /// Which columns of the file are read.
    package let columns: ColumnUse
    private let file: FileHandle
    private let firstLine: Int
    private var reader: DatasetReader
    private var isAtEnd = false

    /// Opens a file, of which the rows that begin before a line are not read.
    ///
    /// Throws as ``next()`` does.
    package init(
        path: String,
        format: DatasetFormat = DatasetFormat(),
        fromLine firstLine: Int = 1
    ) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path))
        self.firstLine = firstLine
        reader = DatasetReader(format: format)
        while true {
            if let columns = try reader.columnUse() {
                self.columns = columns
                return
            }
            isAtEnd = try Self.readPiece(of: file, into: &reader)
        }
    }

    /// The next row; nil after the last one.
    ///
    /// Throws `DatasetError` where the file is no file of posts, and the system's error where it
    /// cannot be read.
    package mutating func next() throws -> DatasetRow? {
        while true {
            while let row = try reader.next() {
                if row.line >= firstLine { return row }
            }
            if isAtEnd { return nil }
            isAtEnd = try Self.readPiece(of: file, into: &reader)
        }
    }

    /// Large enough that reading costs nothing beside parsing.
    private static let pieceByteCount = 1 << 20

    /// Gives a reader the next bytes of a file; whether there are none, and the file is at its end.
    private static func readPiece(
        of file: FileHandle,
        into reader: inout DatasetReader
    ) throws -> Bool {
        if let piece = try file.read(upToCount: pieceByteCount), !piece.isEmpty {
            reader.append(piece)
            return false
        }
        reader.finish()
        return true
    }
}
