import Foundation

/// The memory of a child process that it can write: heap, stacks, globals and mapped buffers.
struct ProcessMemory {
    private let id: Int32

    /// The bytes that are read at once.
    private static let stepByteCount = 4 << 20
    /// Texts at the seam of two reads are found by this overlap.
    private static let overlapByteCount = 256

    init(of id: Int32) {
        self.id = id
    }

    /// Whether the system lets this user read the memory of a child.
    func isReadable() -> Bool {
        FileHandle(forReadingAtPath: "/proc/\(id)/mem") != nil
    }

    /// Calls the body with all of it, a piece at a time, and says where each is.
    func visit(_ body: (_ bytes: [UInt8], _ place: String) throws -> Void) throws {
        guard let memory = FileHandle(forReadingAtPath: "/proc/\(id)/mem") else {
            throw CocoaError(.fileReadNoPermission)
        }
        for (range, place) in try writableRanges() {
            var start = range.lowerBound
            while start < range.upperBound {
                let count = min(Self.stepByteCount, Int(range.upperBound - start))
                try memory.seek(toOffset: start)
                // What the process has unmapped meanwhile is gone.
                let piece = (try? memory.read(upToCount: count)) ?? nil
                guard let piece, !piece.isEmpty else { break }
                try body([UInt8](piece), place)
                guard piece.count > Self.overlapByteCount, start + UInt64(count) < range.upperBound
                else { break }
                start += UInt64(piece.count - Self.overlapByteCount)
            }
        }
    }

    private func writableRanges() throws -> [(Range<UInt64>, String)] {
        let maps = try String(contentsOfFile: "/proc/\(id)/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5)
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return (ends[0]..<ends[1], words.count > 5 ? String(words[5]) : "anonymous")
        }
    }
}
