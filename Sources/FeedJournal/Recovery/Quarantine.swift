/// A part of the journal that an accepted loss drops, and keeps in `quarantine/`.
package struct DroppedPart: Equatable, Sendable {
    /// The segment's name below the data directory.
    package let file: String

    /// Where in the file the part begins; 0 is the whole file.
    package let offset: Int
}

extension RecoveryScan {
    /// What an accepted loss drops of the files, in the order of the records.
    package var droppedParts: [DroppedPart] {
        var parts: [DroppedPart] = []
        if case .segment(let index, record: _, let offset, let content) = end, content > offset {
            parts.append(DroppedPart(file: segments[index].name, offset: offset))
        }
        for segment in segments[(end.lastKeptIndex + 1)...] {
            parts.append(DroppedPart(file: segment.name, offset: 0))
        }
        return parts
    }
}

/// Where an accepted loss keeps what it drops.
package enum Quarantine {
    /// The folder's name below the data directory.
    package static let directoryName = "quarantine"

    /// Keeps what an accepted loss drops: moves segments, and copies a segment that stays in part.
    ///
    /// A name has the file's first record, the last record that is left, and a hash of the content:
    /// nothing that is kept is overwritten, and a repetition after a power cut finds its own files.
    static func keep(
        _ scan: RecoveryScan,
        _ files: any JournalFiles,
        _ hash: RecordHash
    ) throws(JournalError) {
        let parts = scan.droppedParts
        guard !parts.isEmpty else { return }
        do throws(FileError) {
            try files.createDirectory(directoryName)
            try files.syncDirectory(".")
            // The copy first, as it needs room. Then the newest segments first: after an
            // interruption, what is left still ends with a proven loss.
            for part in parts where part.offset > 0 {
                try keep(part.file, in: files, upTo: scan.last.number, hash: hash, moves: false)
            }
            for part in parts.reversed() where part.offset == 0 {
                try keep(part.file, in: files, upTo: scan.last.number, hash: hash, moves: true)
            }
        } catch {
            throw error.isOutOfSpace ? .outOfSpace(error) : .file(error)
        }
    }

    private static func keep(
        _ name: String,
        in files: any JournalFiles,
        upTo last: UInt64,
        hash: RecordHash,
        moves: Bool
    ) throws(FileError) {
        guard let file = try files.open(name) else { return }
        let bytes = try file.read(0..<file.byteCount())
        let digits = name.dropFirst(SegmentLayout.directory.count + 1).dropLast(".log".count)
        let sum = hexadecimal(hash.digest(bytes.span, 0))
        let kept = "\(directoryName)/\(digits)-after-\(last)-\(sum).log"
        if moves {
            try files.rename(name, to: kept)
            try files.syncDirectory(directoryName)
            try files.syncDirectory(SegmentLayout.directory)
        } else if try files.open(kept) == nil {
            let copy = try files.create("\(kept).new")
            let content = bytes.span.extracting(first: bytes.span.endOfContent(from: 0))
            try copy.write(content, at: 0)
            try copy.sync()
            try files.rename("\(kept).new", to: kept)
            try files.syncDirectory(directoryName)
        }
    }
}
