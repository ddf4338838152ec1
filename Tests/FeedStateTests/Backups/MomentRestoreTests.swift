import FeedJournal
import FeedState
import FeedTestSupport
import Foundation
import Testing

@Suite struct MomentRestoreTests {
    @Test(
        "each moment and each revision gives the state of then, also while a service has the lock",
        arguments: [false, true]
    )
    func restoresEachMoment(isOfCluster: Bool) throws {
        let seed: UInt64 = 20_261_126
        let written = try MomentDirectory(seed: seed, batches: 160, isOfCluster: isOfCluster)
        #expect(written.segmentCount > 10)
        var generator = SeededGenerator(seed: seed)
        let before = try written.content()
        for _ in 0..<12 {
            let number = Int.random(in: written.firstBackedUp..<160, using: &generator)
            let byTime = try written.restore(.time(written.time(of: number) + 0.5))
            #expect(byTime.model == written.models[number], "seed \(seed), record \(number)")
            #expect(byTime.made.revision == written.models[number].highestRevision)
            if let records = byTime.made.records {
                #expect(records.upperBound == UInt64(number))
                #expect(byTime.made.time == written.time(of: number))
            }
            #expect(byTime.made.nextRecord == UInt64(number) + 1)
            #expect(byTime.made.nextTime == written.time(of: number + 1))
            #expect(byTime.instanceID != written.instanceID)
            // A revision in the middle of the next commit batch has nothing of it.
            let revision = written.models[number].highestRevision
            let next = written.models[number + 1].highestRevision
            for wanted in Set([revision, max(revision, next - 1)]) {
                let byRevision = try written.restore(.revision(wanted))
                #expect(byRevision.model == written.models[number], "seed \(seed), \(wanted)")
                #expect(byRevision.made.nextRevision == next)
            }
        }
        #expect(try written.content() == before)
    }

    @Test("a moment of a cluster, by a backup of the time before it")
    func restoresAMomentBehindTheBeginningOfACluster() throws {
        let written = try MomentDirectory(seed: 5, batches: 30, headedAfter: 20)
        for number in [19, 20, 21, 29] {
            let made = try written.restore(.time(written.time(of: number) + 0.5))
            #expect(made.model == written.models[number], "record \(number)")
        }
    }

    @Test("the last record, and a backup by its name")
    func restoresEnds() throws {
        let written = try MomentDirectory(seed: 3, batches: 40)
        let end = try written.restore(.time(written.time(of: 40) + 3600))
        #expect(end.model == written.models[40] && end.made.nextRecord == nil)
        let newest = try written.restore(.revision(written.models[40].highestRevision))
        #expect(newest.model == written.models[40])
        let name = try #require(written.backups.last)
        let backup = try written.restore(.backup(name.name))
        #expect(backup.model == written.models[name.record])
        #expect(backup.made.records == nil && backup.made.backup == name.name)
    }

    @Test(
        "a damaged newest backup is passed over and named, and where all are, that one is named",
        // The last is in pages that only the copy into the target reads.
        arguments: [(0, 1), (4090, 1), (0, 24)]
    )
    func passesOverADamagedBackup(place: Int, page: Int) throws {
        let written = try MomentDirectory(seed: 11, batches: 60)
        #expect(written.backups.count > 2)
        let newest = try #require(written.backups.last)
        let moment = RestoreMoment.time(written.time(of: 60) + 0.5)
        try written.damage(newest.name, place, from: page)
        let made = try written.restore(moment)
        #expect(made.model == written.models[60])
        #expect(made.made.damaged == [newest.name] && made.made.backup < newest.name)
        for backup in written.backups.dropLast() {
            try written.damage(backup.name, place, from: 1)
        }
        let error = #expect(throws: RestoreError.self) { try written.restore(moment) }
        let text = "\(try #require(error))"
        #expect(text.contains("the backup \(newest.name) is damaged"), "\(text)")
        #expect(error?.exitStatus == 5)
    }

    @Test(
        "backups of another directory are no beginning of moments, and no target is within the source"
    )
    func saysWhatItHas() throws {
        let written = try MomentDirectory(seed: 13, batches: 40)
        for (seed, foreign) in [(17, 13), (13, 17)] as [(UInt64, UInt64)] {
            let other = try MomentDirectory(seed: seed, batches: 40)
            try other.takeBackups(of: MomentDirectory(seed: foreign, batches: 40))
            let early = RestoreMoment.time(written.time(of: 0) - 1)
            let own = other.backups[0].name
            let error = #expect(throws: RestoreError.self) { try other.restore(early) }
            let begin = try #require(BackupFolders.time(of: own)).milliseconds
            let text = "\(try #require(error))"
            // The second, if a backup of the other directory is of the journal's last record.
            let texts = ["from the backup of \(begin):", "Moments from \(begin) to "]
            #expect(texts.contains { text.contains($0) }, "\(text)")
        }
        let within = #expect(throws: RestoreError.self) { try written.restoreWithin() }
        guard case .within = within else { throw Unexpected(within) }
    }

    @Test("a gap in the journal is named with the moments that can be had, and those before it can")
    func refusesAGap() throws {
        let written = try MomentDirectory(seed: 5, batches: 120, backsUpOnce: true)
        let gap = try written.removeSegment()
        let lost = Int(gap) + 3
        let error = #expect(throws: RestoreError.self) {
            try written.restore(.time(written.time(of: lost)))
        }
        let text = "\(try #require(error))"
        #expect(text.contains("Moments from "), "\(text)")
        #expect(text.contains("record \(gap - 1), can be had"), "\(text)")
        #expect(error?.exitStatus == 5)
        let before = try written.restore(.time(written.time(of: Int(gap) - 2)))
        #expect(before.model == written.models[Int(gap) - 2])
        #expect(throws: RestoreError.self) {
            try written.restore(.time(written.time(of: Int(gap) - 1) + 0.5))
        }
    }

    @Test("moments that no file has are refused, and nothing is made")
    func refusesOtherMoments() throws {
        let written = try MomentDirectory(seed: 7, batches: 40)
        let newest = written.models[40].highestRevision
        let moments: [(RestoreMoment, String)] = [
            (.time(written.time(of: 0) - 1), "no backup was made before it"),
            (.time(MomentDirectory.now + 1), "now"),
            (.revision(newest + 1), "the newest revision is \(newest)"),
            (.backup("20270115T080000123Z-scheduled"), "no complete backup"),
        ]
        for (moment, text) in moments {
            let error = #expect(throws: RestoreError.self) { try written.restore(moment) }
            #expect("\(try #require(error))".contains(text), "\(String(describing: error))")
            #expect(error?.exitStatus == 2)
        }
        #expect(!FileManager.default.fileExists(atPath: written.targetPath))
    }
}

/// A directory with a journal of small segments that are all kept, and backups.
private final class MomentDirectory {
    /// The time of day of the restores: after all records.
    static let now = start + 1_000_000
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    let instanceID: UInt64
    private(set) var models: [StateModel] = [.new]
    private(set) var backups: [(name: String, record: Int)] = []
    private let directory: DataDirectory
    private let target: DataDirectory
    private var restoreCount = 0

    /// Records after `headedAfter` are a cluster's, which no backup has seen.
    init(
        seed: UInt64,
        batches: Int,
        backsUpOnce: Bool = false,
        isOfCluster: Bool = false,
        headedAfter: Int = .max
    ) throws {
        directory = try DataDirectory()
        target = try DataDirectory()
        var generator = SeededGenerator(seed: seed)
        var database = try directory.create()
        if isOfCluster {
            database = try DataDirectory().create()
            var options = StateOptions(path: directory.path, logCount: 1)
            options.journal.space.ballastByteCount = 1 << 16
            options.journal.segmentByteCount = 16 << 10
            _ = try ClusterBeginning.run(StateDirectory(options, directory.files))
            database = try directory.open()
        }
        instanceID = database.meta.instanceID
        var configuration = JournalConfiguration(instanceID: instanceID)
        configuration.segmentByteCount = 16 << 10
        configuration.keptMicroseconds = .max / 2
        configuration.space.ballastByteCount = 1 << 16
        let journal = try SegmentJournal(directory.files, configuration)
        var work = CheckpointWork(database, checkpointByteCount: 1 << 20)
        var source = LogEntrySource()
        var chain = database.meta.chain
        for number in 1...batches {
            var body = source.batch(writes: 12, using: &generator)
            if number > headedAfter, !chain.isOfCluster {
                chain = RecordChain(after: journal.last)
            }
            if chain.isOfCluster {
                body.insert(contentsOf: [UInt8](repeating: 0, count: RecordHead.byteCount), at: 0)
                let time = UInt64(time(of: number).timeIntervalSince1970) * 1_000_000
                chain.seal(&body, entryCount: 1, at: time)
                _ = try chain.take(body.span, record: UInt64(number))
            }
            let position = try journal.append(
                body.span,
                count: 1,
                at: UInt64(time(of: number).timeIntervalSince1970) * 1_000_000
            )
            if number <= headedAfter { try work.add(body, at: position) }
            var model = source.model
            // A restore ends all sessions.
            model.viewers.sessions = [:]
            models.append(model)
            guard generator.oneIn(8) || number == 2, number <= headedAfter else { continue }
            work.begin()
            while work.isCheckpointing { try work.writeStep(until: { false }) }
            try journal.forget(through: position.number)
            _ = try journal.checkSpace()
            guard backups.isEmpty || !backsUpOnce else { continue }
            backups.append((try Self.backUp(database, at: time(of: number) + 0.2), number))
        }
    }

    private static func backUp(_ database: StateDatabase, at time: Date) throws -> String {
        var options = BackupOptions()
        options.keptCount = 100
        options.timeOfDay = { time }
        let job = try BackupJob(of: database, options, reservedByteCount: 0)
        try job.open()
        while try !job.step() {}
        let name = try job.finish().backup.name
        try database.thaw()
        return name
    }

    var firstBackedUp: Int { backups.first?.record ?? 0 }

    func time(of record: Int) -> Date { Self.start + Double(record) }

    var targetPath: String { target.path + "/restored" }

    var segmentCount: Int { (try? segments().count) ?? 0 }

    private func segments() throws -> [String] {
        try directory.files.names(in: "journal").filter { $0.hasPrefix("0") }.sorted()
    }

    /// Removes a segment after the oldest backup; gives the number of its first record.
    func removeSegment() throws -> UInt64 {
        let segments = try segments()
        let name = segments[segments.count - 3]
        try directory.files.remove("journal/\(name)")
        return try #require(UInt64(name.dropLast(4)))
    }

    /// Spoils the pages of a backup, from one of them on.
    func damage(_ name: String, _ place: Int, from page: Int) throws {
        let path = "backups/\(name)/state.db"
        var bytes = try directory.read(path)
        for start in stride(from: page * 4096, to: bytes.count, by: 4096) {
            bytes[start + place] ^= 0x40
        }
        try directory.write(path, bytes)
    }

    /// Copies the backups of another directory, with names of earlier times.
    func takeBackups(of other: MomentDirectory) throws {
        for (index, backup) in other.backups.enumerated() {
            let name = "20200101T00000000\(index)Z"
            try directory.files.createDirectory("backups/\(name)")
            let bytes = try other.directory.read("backups/\(backup.name)/state.db")
            try directory.write("backups/\(name)/state.db", bytes)
        }
    }

    func restoreWithin() throws {
        _ = try MomentRestore.run(
            of: RestoreSource(path: directory.path),
            to: .time(time(of: 40)),
            into: "\(directory.path)/inside",
            now: Self.now
        )
    }

    func content() throws -> [String: [UInt8]] {
        var content: [String: [UInt8]] = [:]
        for folder in [".", "journal"] + backups.map({ "backups/\($0.name)" }) {
            for name in try directory.files.names(in: folder) {
                let path = "\(folder)/\(name)"
                // The database is open: its locks would end with another descriptor of its file.
                guard !["backups", "journal"].contains(name), !path.hasPrefix("./state.db") else {
                    continue
                }
                content[path] = try directory.read(path)
            }
        }
        return content
    }

    func restore(
        _ moment: RestoreMoment
    ) throws -> (made: MomentRestore, model: StateModel, instanceID: UInt64) {
        restoreCount += 1
        let path = targetPath + (restoreCount == 1 ? "" : "\(restoreCount)")
        let made = try MomentRestore.run(
            of: RestoreSource(path: directory.path),
            to: moment,
            into: path,
            now: Self.now
        )
        let database = try StateDatabase(directory: path, files: POSIXFiles(path: path))
        return (made, try StateModel(database), database.meta.instanceID)
    }
}
