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

    /// So many calls and cuts, with folds or without.
    init(
        seed: UInt64,
        turns: Int = 150,
        folds: Bool = true,
        hash: RecordHash = .xxh3
    ) throws {
        var run = StatePowerCutRun(seed: seed, hash: hash)
        try run.write(turns: turns, folds: folds)
        disk = run.disk.copy()
        self.run = run
    }

    /// The bytes of a file that were written for it: a segment's records, or all up to the zeros.
    ///
    /// Behind the records is what the file held before it was used again. The format is that of
    /// `docs/JOURNAL.md`, read here anew: 4096 bytes of header, records of 40 and their body.
    func contentByteCount(_ name: String) -> Int {
        guard let bytes = disk[name] else { return 0 }
        guard name.hasPrefix("journal/"), let first = UInt64(name.dropFirst(8).dropLast(4)) else {
            return (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        }
        var sequence = first
        var end = 4096
        while end + 40 <= bytes.count, number(bytes[end + 8..<end + 16]) == sequence {
            end += (40 + Int(number(bytes[end..<end + 4])) + 7) & ~7
            sequence += 1
        }
        return end
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
