import FeedDiskFaults
import FeedJournal
import FeedState
import FeedTestSupport

/// A directory that a run has left, for tests that spoil its files.
struct WrittenState {
    /// What a start on spoiled files comes to.
    enum Outcome: Equatable {
        case refused
        case harmless
        case servedWrongly(String)
    }

    private let run: StatePowerCutRun

    /// The files as they are when the process has died.
    let disk: FakeDisk

    /// So many calls and commit batches, with checkpoints or without.
    init(
        seed: UInt64,
        turns: Int = 150,
        checkpoints: Bool = true,
        hash: RecordHash = .xxh3
    ) throws {
        var run = StatePowerCutRun(seed: seed, hash: hash)
        try run.write(turns: turns, checkpoints: checkpoints)
        disk = run.disk.copy()
        self.run = run
    }

    /// The bytes of a file that were written for it: a segment's records, or all up to the zeros.
    ///
    /// After the records is what the file held before it was used again. The format is that of
    /// `docs/STORAGE.md`, read here anew: 4096 bytes of header, records of 40 and their body.
    func contentByteCount(_ name: String) -> Int {
        guard let bytes = disk[name] else { return 0 }
        guard name.hasPrefix("journal/0") else {
            return (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        }
        return records(of: name).last?.range.upperBound ?? 4096
    }

    /// The records of all segments up to a number: the segment, and the bytes that are checked.
    func records(upTo last: UInt64) -> [(name: String, range: Range<Int>)] {
        disk.names.filter { $0.hasPrefix("journal/0") }.flatMap { name in
            records(of: name).filter { $0.record <= last }.map { (name, $0.range) }
        }
    }

    private func records(of name: String) -> [(record: UInt64, range: Range<Int>)] {
        guard let bytes = disk[name], var record = UInt64(name.dropFirst(8).dropLast(4)) else {
            return []
        }
        var records: [(record: UInt64, range: Range<Int>)] = []
        var start = 4096
        while start + 40 <= bytes.count, number(bytes[start + 8..<start + 16]) == record {
            let end = start + 40 + Int(number(bytes[start..<start + 4]))
            records.append((record, start..<end))
            start = (end + 7) & ~7
            record += 1
        }
        return records
    }

    /// A number, least byte first.
    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Where some bytes are in the files.
    func find(_ text: String) -> [(name: String, offset: Int)] {
        let wanted = Array(text.utf8)
        return disk.names.flatMap { name in
            let bytes = disk[name] ?? []
            return bytes.indices.dropLast(wanted.count)
                .filter { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
                .map { (name, $0) }
        }
    }

    /// Starts with one bit flipped.
    func flip(_ bit: Int, of name: String) -> Outcome {
        let disk = disk.copy()
        disk[name]?[bit / 8] ^= 1 << UInt8(bit % 8)
        return start(disk)
    }

    /// Starts on a disk: all that was answered is there, or it is refused.
    func start(_ disk: FakeDisk) -> Outcome {
        var run = run
        run.disk = disk
        do {
            try run.start()
            return .harmless
        } catch let complaint as StatePowerCutRun.Complaint {
            return .servedWrongly(complaint.text)
        } catch {
            return .refused
        }
    }
}
