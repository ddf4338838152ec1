import FeedDiskFaults
import FeedSQLite
import FeedTestSupport
import Glibc
import Testing

/// What a failing disk comes to, and that nothing committed suffers from it.
@Suite struct DiskFaultTests {
    private let disk = FakeDisk()

    private func open() throws -> Database {
        try Database(path: "state.db", vfs: disk.databaseDiskName)
    }

    /// A database with the rows of that many transactions.
    private func fill(_ count: Int) throws -> (Database, Rows) {
        var generator = SeededGenerator(seed: UInt64(count))
        let database = try open()
        try database.createRows()
        var rows: Rows = [:]
        for _ in 0..<count {
            let transaction = RandomTransaction(&generator)
            try database.transaction { () throws(StorageError) in
                try transaction.write(to: database)
            }
            rows = transaction.applied(to: rows)
        }
        return (database, rows)
    }

    private func write(_ id: Int64, _ byteCount: Int, to database: Database) throws {
        try database.transaction { () throws(StorageError) in
            let insert = try database.prepare("INSERT OR REPLACE INTO t VALUES (?, ?)")
            try insert.bind(id, at: 1)
            try insert.bind([UInt8](repeating: 1, count: byteCount), at: 2)
            try insert.run()
        }
    }

    @Test func livesOnADiskOfItsOwn() throws {
        let (database, rows) = try fill(20)
        #expect(try database.text("PRAGMA journal_mode") == "wal")
        #expect(try database.rows() == rows)
        #expect(disk.names == ["state.db", "state.db-wal"])
    }

    @Test func copiesToTheSameDisk() throws {
        let (database, rows) = try fill(20)
        #expect(try Backup(of: database, to: "./copy.db").step())
        #expect(try disk.names(in: ".").sorted() == ["copy.db", "state.db", "state.db-wal"])
        let copy = try Database(path: "copy.db", vfs: disk.databaseDiskName)
        #expect(try copy.rows() == rows)
    }

    @Test("a page that the disk does not give is no damage, whichever it is")
    func aFailedReadIsNoDamage() throws {
        let database = try fill(60).0
        try database.checkpointLog()
        // What is in memory would be read from there.
        try database.execute("PRAGMA cache_size=0")
        for first in 1...8 {
            let reads = Locked(0)
            disk.failure = { call, name in
                guard call == .read, name == "state.db" else { return nil }
                let number = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                return number >= first ? EIO : nil
            }
            let error = #expect(throws: StorageError.self) { try database.pageProblems() }
            guard error?.sqlite?.kind == .io else {
                throw Unexpected("read \(first): \(String(describing: error))")
            }
        }
        disk.failure = { _, _ in nil }
        #expect(try database.pageProblems() == [])
    }

    @Test("an index that does not have what its table has is damage")
    func comparesIndexesWithTables() throws {
        do {
            let database = try open()
            try database.execute("CREATE TABLE words(word TEXT)")
            try database.execute("CREATE INDEX words_by_word ON words(word)")
            try database.execute("INSERT INTO words VALUES('needle')")
            try database.checkpointLog()
        }
        var bytes = try #require(disk["state.db"])
        // Both have the word at the end of their page, and the index comes behind its table.
        let place = try #require(
            bytes.indices.last { bytes[$0...].starts(with: Array("needle".utf8)) }
        )
        bytes[place] ^= 1
        disk["state.db"] = bytes
        #expect(try open().pageProblems().isEmpty == false)
    }

    @Test func continuesWhenAFullDiskHasRoomAgain() throws {
        var (database, rows) = try fill(20)
        disk.capacity = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) } + 20_000
        let error = #expect(throws: StorageError.self) { try write(1000, 100_000, to: database) }
        guard error?.sqlite?.kind == .full else { throw Unexpected(error) }
        #expect(!database.isInTransaction)
        #expect(try database.rows() == rows)
        disk.capacity = .max
        try write(1000, 100_000, to: database)
        rows[1000] = [UInt8](repeating: 1, count: 100_000)
        #expect(try database.rows() == rows)
        #expect(try database.integrityProblems() == [])
    }

    @Test func reportsASyncThatFails() throws {
        let (database, rows) = try fill(20)
        var failures = 1
        disk.failure = { call, _ in
            guard call == .sync, failures > 0 else { return nil }
            failures -= 1
            return EIO
        }
        let error = #expect(throws: StorageError.self) { try write(1000, 100, to: database) }
        guard error?.sqlite?.kind == .io else { throw Unexpected(error) }
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
        var found = try open().rows()
        // Whether what was not acknowledged is there is not known; the rest is.
        found[1000] = nil
        #expect(found == rows)
    }

    @Test func reportsAReadThatFails() throws {
        _ = try fill(20)
        disk.failure = { call, _ in call == .read ? EIO : nil }
        let error = #expect(throws: StorageError.self) { try open().rows() }
        guard error?.sqlite?.kind == .io else { throw Unexpected(error) }
    }

    @Test func isDurableOnceItIsOpen() throws {
        // Transactions that a killed process had written and not synced, read by the next one.
        disk.ignoresSyncs = true
        let (database, rows) = try fill(20)
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
        disk.ignoresSyncs = false
        let next = try open()
        #expect(try next.rows() == rows)
        disk.die()
        withExtendedLifetime(next) {}
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            let disk = disk.afterPowerCut(&generator)
            let database = try Database(path: "state.db", vfs: disk.databaseDiskName)
            #expect(try database.rows() == rows)
        }
    }
}
