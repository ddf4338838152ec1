internal import Foundation

/// Frames as a released version has sent them, kept as bytes: clients and services of that version
/// send them still.
///
/// The values beside them never change; a later version adds a folder and values of its own.
package enum GoldenFrames {
    /// A frame and what calls it.
    package struct Named<Frame: Sendable>: Sendable {
        /// What the line of its file begins with.
        package let name: String
        /// What its bytes say.
        package let frame: Frame
    }

    /// A file's frames by name, each with its header.
    ///
    /// - Parameter path: Below `Tests/FeedProtoTests/Golden`. A line of the file is a name, a space
    ///   and the bytes as hexadecimal digits.
    /// - Returns: The bytes by name.
    /// - Throws: That the file cannot be read, or a line that is something else.
    package static func bytes(_ path: String) throws -> [String: [UInt8]] {
        let file = Programs.projectFolder.appending(path: "Tests/FeedProtoTests/Golden/\(path)")
        let text = try String(contentsOf: file, encoding: .utf8)
        var frames: [String: [UInt8]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, words[1].utf8.count.isMultiple(of: 2) else {
                throw BadLine(text: String(line))
            }
            let digits = Array(words[1])
            frames[String(words[0])] = try stride(from: 0, to: digits.count, by: 2).map {
                guard let byte = UInt8(String(digits[$0...$0 + 1]), radix: 16) else {
                    throw BadLine(text: String(line))
                }
                return byte
            }
        }
        return frames
    }

    /// A line that is no name and bytes.
    private struct BadLine: Error {
        let text: String
    }
}
