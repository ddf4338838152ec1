import Foundation

/// Reads kernel files in /proc; a file that is gone or not readable is nil, never an error.
enum ProcFile {
    /// The text of the file.
    ///
    /// The file is read to its end: the kernel reports a size of 0 for these files, and a reader
    /// that trusts it gets the first page of a table.
    static func text(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let bytes = try? file.readToEnd() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names in the folder that are numbers: processes, tasks or descriptors.
    static func numbers(in path: String) -> [Int] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        return (names ?? []).compactMap { Int($0) }
    }

    /// Where the symbolic link points.
    static func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }
}
