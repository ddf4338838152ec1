import FeedJournal
import Glibc

/// What a commit of the journal costs on a disk, beside a plain loop of writes and syncs.
///
///     JournalBenchmark DIRECTORY [COMMITS] [BYTES]
///
/// The directory is made, and what is written there stays.
@main
enum JournalBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else {
            print("usage: JournalBenchmark DIRECTORY [COMMITS] [BYTES]")
            exit(2)
        }
        let commitCount = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 2000
        let byteCount = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 1200
        let files = try POSIXFiles.creating(path: arguments[1])
        guard try !files.names(in: ".").contains("journal") else {
            print("\(arguments[1]) has a journal already.")
            exit(2)
        }
        let body = [UInt8](repeating: 7, count: byteCount)
        print("\(commitCount) commits of \(byteCount) bytes, twice each, in turn:")
        var checkpointed = JournalPosition.start
        for _ in 0..<2 {
            try plain(files, body, commitCount)
            for durability in Durability.allCases {
                try journal(files, body, commitCount, durability, &checkpointed)
            }
        }
    }

    /// Writes behind one another into a file that was zeroed before, and syncs each.
    private static func plain(_ files: POSIXFiles, _ body: [UInt8], _ count: Int) throws {
        let file = try files.create("plain")
        let zeros = [UInt8](repeating: 0, count: body.count)
        for index in 0..<count {
            _ = try file.writeOnce(zeros.span, Span(), at: index * body.count)
        }
        try file.sync()
        try measure("write and fdatasync", body.count, count) { index in
            _ = try file.writeOnce(body.span, Span(), at: index * body.count)
            try file.sync()
        }
        try files.remove("plain")
    }

    private static func journal(
        _ files: POSIXFiles,
        _ body: [UInt8],
        _ count: Int,
        _ durability: Durability,
        _ checkpointed: inout JournalPosition
    ) throws {
        var configuration = JournalConfiguration(instanceID: 1)
        configuration.durability = durability
        var journal = try SegmentJournal(files, configuration, checkpointed: checkpointed)
        try measure("journal, \(durability.rawValue)", body.count, count) { _ in
            _ = try journal.append(body.span, count: 100, at: 0)
        }
        let clock = ContinuousClock()
        let start = clock.now
        journal = try SegmentJournal(files, configuration, checkpointed: checkpointed)
        let opened = clock.now
        var replayedByteCount = 0
        try journal.replay(after: checkpointed.number) { _, body in
            replayedByteCount += body.count
            return true
        }
        let openMilliseconds = Int((opened - start) / .milliseconds(1))
        let replayMilliseconds = Int((clock.now - opened) / .milliseconds(1))
        print(
            "  opened again in \(openMilliseconds) ms, "
                + "\(replayedByteCount / 1_000_000) MB replayed in \(replayMilliseconds) ms"
        )
        checkpointed = journal.last
        try journal.forget(through: checkpointed.number)
    }

    private static func measure(
        _ name: String,
        _ byteCount: Int,
        _ count: Int,
        _ body: (Int) throws -> Void
    ) throws {
        let clock = ContinuousClock()
        var latencies: [Duration] = []
        latencies.reserveCapacity(count)
        let start = clock.now
        let processorStart = processorNanoseconds()
        for index in 0..<count {
            let begin = clock.now
            try body(index)
            latencies.append(clock.now - begin)
        }
        let seconds = (clock.now - start) / .seconds(1)
        let processor = processorNanoseconds() - processorStart
        latencies.sort()
        let median = latencies[count / 2] / .microseconds(1)
        let p99 = latencies[count * 99 / 100] / .microseconds(1)
        print(
            "\(name): \(Int(Double(count) / seconds)) a second, "
                + "\(Int(Double(count * byteCount) / seconds / 1e3)) kB/s, "
                + "\(processor / UInt64(count) / 1000) us of CPU each, "
                + "p50 \(Int(median)) us, p99 \(Int(p99)) us"
        )
    }

    private static func processorNanoseconds() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
