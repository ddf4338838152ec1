package import FeedJournal
internal import FeedSQLite

/// A state of another node that takes the place of a directory's own.
///
/// ```
/// prepare   state.db.new: copied, synced, checked
/// mark      restoring: from here on the next start finishes it, and no other serves the directory
/// finish    quarantine/replaced-N/  ◄── state.db, state.db-wal, durable.hwm, journal/
///           state.db.new ──► state.db; the journal begins behind its record; restoring goes
/// ```
///
/// The first two steps run while the old state is open, and change nothing of it. The next start runs the
/// last one. Each part of it is durable before the next begins. A start that finds the marker does the parts
/// that are left.
package struct StateInstall {
    /// The replaced states that are kept, the newest ones: what is not committed anywhere else may be there.
    package static let keptCount = 1
    /// What the next start takes beside the file and a segment: SQLite's log, names.
    private static let startByteCount = 2 << 20

    /// The record that the state is to be of.
    let record: UInt64
    /// The instance of the cluster.
    let instanceID: UInt64
    /// The last record before the cluster's own, if the directory knows it.
    let beginning: UInt64?
    let directory: String
    let files: any JournalFiles
    let vfs: String?
    let segmentByteCount: Int

    package init(
        of record: UInt64,
        instanceID: UInt64,
        beginning: UInt64?,
        in directory: String,
        _ files: any JournalFiles,
        vfs: String?,
        segmentByteCount: Int
    ) {
        self.record = record
        self.instanceID = instanceID
        self.beginning = beginning
        self.directory = directory
        self.files = files
        self.vfs = vfs
        self.segmentByteCount = segmentByteCount
    }

    /// Copies a file, syncs it, and checks each page and row of the copy, while `continues` says so.
    ///
    /// Where this throws, nothing of it is left.
    package func prepare(
        from source: any JournalFile,
        while continues: () -> Bool
    ) throws(InstallError) {
        do throws(InstallError) {
            try copy(source, continues)
            try check(continues)
            // Its name has to be there if the marker is.
            try installErrors { () throws(StorageError) in try files.syncDirectory(".") }
        } catch {
            try? StateDatabase.removeNewFile(files)
            throw error
        }
    }

    /// Marks the directory, durably: the next start finishes the installation.
    package func mark() throws(InstallError) {
        let number = try installErrors { () throws(StorageError) in
            (try ReplacedStates.numbers(files).last ?? 0) + 1
        }
        let marker = InstallMarker(number: number, record: record)
        do throws(StorageError) {
            try marker.write(files)
        } catch {
            // The sync behind the rename may fail alone.
            throw InstallMarker.read(files) == marker
                ? .notSynced(directory: directory, error) : .failed(error)
        }
    }

    private func copy(
        _ source: any JournalFile,
        _ continues: () -> Bool
    ) throws(InstallError) {
        let byteCount = try installErrors { () throws(StorageError) in
            try StateDatabase.removeNewFile(files)
            return try source.byteCount()
        }
        try makeRoom(for: byteCount)
        do throws(StorageError) {
            let target = try files.create(StateDatabase.newFileName)
            let copy = StateCopy(of: source, byteCount: byteCount, to: target)
            while try !copy.step() {
                guard continues() else { throw .stateStopped(reason: "The copy was ended.") }
            }
        } catch {
            throw error.isOutOfSpace ? noRoom(for: byteCount) : .failed(error)
        }
    }

    /// What was replaced before goes where its room is needed.
    private func makeRoom(for byteCount: Int) throws(InstallError) {
        try installErrors { () throws(StorageError) in
            guard try files.freeByteCount() < neededByteCount(byteCount) else { return }
            try ReplacedStates.prune(files, keeping: 0)
        }
        let free = try installErrors { () throws(StorageError) in try files.freeByteCount() }
        guard free >= neededByteCount(byteCount) else { throw noRoom(for: byteCount) }
    }

    private func neededByteCount(_ byteCount: Int) -> Int {
        byteCount + segmentByteCount + Self.startByteCount
    }

    private func noRoom(for byteCount: Int) -> InstallError {
        .noRoom(
            directory: directory,
            neededByteCount: neededByteCount(byteCount),
            freeByteCount: (try? files.freeByteCount()) ?? 0
        )
    }

    /// Checks that the copy is the state of the record in this cluster, and that all of it is whole.
    ///
    /// No store is filled: the process may have one of the old state. The start that follows fills one.
    private func check(_ continues: () -> Bool) throws(InstallError) {
        let database = try installErrors { () throws(StorageError) in
            try StateDatabase(
                directory,
                files,
                vfs: vfs,
                name: StateDatabase.newFileName,
                mode: .immutable
            )
        }
        let meta = database.meta
        guard meta.chain.isOfCluster, meta.instanceID == instanceID,
            beginning.map({ $0 == meta.chain.beginning }) ?? true
        else { throw .otherCluster(found: meta.instanceID, expected: instanceID) }
        guard meta.checkpointed.number == record, meta.chain.beginning <= record else {
            throw .otherRecord(found: meta.checkpointed.number, expected: record)
        }
        let (level, known) = (meta.chain.level, RecordHead.newestLevel)
        guard level <= known else {
            throw .failed(.head(.newerLevel(record: record, level: level, known: known)))
        }
        try installErrors { () throws(StorageError) in
            try database.checkIsOfOneMoment()
            try database.checkPages()
            try database.checkRows(while: continues)
        }
    }
}

/// Why the state of another node does not take the place of the directory's own, which is as it was; or, of
/// ``notSynced(directory:_:)``, why a power cut may take that back.
package enum InstallError: Error, Equatable, Sendable {
    case noRoom(directory: String, neededByteCount: Int, freeByteCount: Int)
    case otherCluster(found: UInt64, expected: UInt64)
    case otherRecord(found: UInt64, expected: UInt64)
    case failed(StorageError)
    /// The directory is marked, and a power cut may take the mark back.
    case notSynced(directory: String, StorageError)

    /// What the process exits with: 5 if another try does not help, and 4 if a newer program does.
    package var exitStatus: Int32 {
        switch self {
        case .noRoom, .otherCluster, .otherRecord: 5
        case .failed(let error), .notSynced(_, let error): error.exitStatus
        }
    }
}

extension InstallError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noRoom(let directory, let needed, let free):
            "It takes up to \(needed) bytes in \(directory), and the disk has \(free) bytes free: "
                + "free \(max(0, needed - free)) bytes."
        case .otherCluster(let found, let expected):
            "It is of instance \(hexadecimal(found)), and no state of the cluster of instance "
                + "\(hexadecimal(expected))."
        case .otherRecord(let found, let expected):
            "Its last record is \(found), expected \(expected)."
        case .failed(let error): "\(error)"
        case .notSynced(let directory, let error):
            "The next start puts it in place, as the file \(BackupRestore.restoringName) in \(directory) "
                + "says; that name could not be synced, and after a power cut the directory may be as it "
                + "was. \(error)"
        }
    }
}

private func installErrors<Result>(
    _ body: () throws(StorageError) -> Result
) throws(InstallError) -> Result {
    do {
        return try body()
    } catch {
        throw .failed(error)
    }
}

/// What the file `restoring` says while a state of another node is to take the place of the directory's own:
/// one line, `install <number> <record>`.
struct InstallMarker: Equatable {
    private static let prefix = "install "

    /// The number in the name of the folder that the old state is moved to.
    let number: Int
    /// The last record of the new state.
    let record: UInt64

    static func read(_ files: any JournalFiles) -> InstallMarker? {
        guard let text = RestoringFile.line(files), text.hasPrefix(prefix) else { return nil }
        let words = text.dropFirst(prefix.count).split(separator: " ")
        guard words.count == 2, let number = Int(words[0]), let record = UInt64(words[1]) else {
            return nil
        }
        return InstallMarker(number: number, record: record)
    }

    func write(_ files: any JournalFiles) throws(StorageError) {
        try RestoringFile.write("\(Self.prefix)\(number) \(record)", files)
    }

    /// Moves the files of the old state away, and gives the new one its name; nothing if that was done.
    ///
    /// The old database goes first, and with its log before the new one gets its name.
    func publish(_ files: any JournalFiles) throws(StorageError) {
        let names = try files.names(in: ".")
        guard names.contains(StateDatabase.newFileName) else { return }
        let journal = SegmentJournal.directoryName
        // Nobody needs what has no records.
        try SegmentJournal.removeReserves(files)
        let segments =
            names.contains(journal) ? try files.names(in: journal).sorted() : []
        let old =
            ["", "-wal", "-shm", "-journal"].map { StateDatabase.fileName + $0 }
            + [SegmentJournal.watermarkName]
        let moved = old.filter(names.contains) + segments.map { "\(journal)/\($0)" }
        let folder = ReplacedStates.folder(number)
        // All of it may have been moved by a process that was killed, and not be durable yet.
        let isBegun = try ReplacedStates.numbers(files).contains(number)
        if isBegun || !moved.isEmpty {
            let folders = [Quarantine.directoryName, folder, "\(folder)/\(journal)", journal]
            for name in folders { try files.createDirectory(name) }
            for name in moved { try files.rename(name, to: "\(folder)/\(name)") }
            for name in folders.reversed() + ["."] { try files.syncDirectory(name) }
        }
        try StateDatabase.publishNewFile(files)
    }
}

/// The states that others have taken the place of: `quarantine/replaced-<number>`.
enum ReplacedStates {
    private static let prefix = "replaced-"

    static func folder(_ number: Int) -> String {
        "\(Quarantine.directoryName)/\(prefix)\(number)"
    }

    /// The numbers of those that are there, the oldest first.
    static func numbers(_ files: any JournalFiles) throws(StorageError) -> [Int] {
        guard try files.names(in: ".").contains(Quarantine.directoryName) else { return [] }
        return try files.names(in: Quarantine.directoryName).compactMap { name in
            name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
        }.sorted()
    }

    /// Removes the oldest ones.
    static func prune(
        _ files: any JournalFiles,
        keeping count: Int = StateInstall.keptCount
    ) throws(StorageError) {
        let old = try numbers(files).dropLast(count)
        guard !old.isEmpty else { return }
        for number in old {
            let folder = folder(number)
            let journal = "\(folder)/\(SegmentJournal.directoryName)"
            if try files.names(in: folder).contains(SegmentJournal.directoryName) {
                for name in try files.names(in: journal) { try files.remove("\(journal)/\(name)") }
                try files.removeDirectory(journal)
            }
            for name in try files.names(in: folder) { try files.remove("\(folder)/\(name)") }
            try files.removeDirectory(folder)
        }
        try files.syncDirectory(Quarantine.directoryName)
    }
}
