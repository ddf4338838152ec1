import Foundation

/// Reads what the kernel says in /proc; a file that is gone or closed to us is nil, never an error.
enum ProcFile {
    /// The text of the file.
    static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
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
