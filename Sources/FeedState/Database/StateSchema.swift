import FeedJournal
import FeedSQLite

/// The tables of `state.db`, as `docs/STORAGE.md` describes them.
enum StateSchema {
    /// The newest format: it has added changes of accounts, and tokens that reset passwords.
    static let format: Int64 = 4
    /// The format that has added the table whose row says whether the directory is a cluster's or one
    /// machine's.
    static let clusterFormat: Int64 = 3

    /// Makes the tables of a new file: those of format 1, then what each format has added.
    static var statements: [String] {
        [StateMeta.creation, TableTotals.creation] + (1...format).flatMap(statements(of:))
    }

    static func statements(of format: Int64) -> [String] {
        guard format != clusterFormat else { return TableDescription(RecordChain.self).creation }
        return StateTable.rows.flatMap { row in
            let table = TableDescription(row)
            return row.table.firstFormat == format ? table.creation : table.additions(of: format)
        }
    }

    /// The tables of a file; ``DirectoryRow`` has one more, which a file of version 0.1 lacks.
    static func tables(of format: Int64) -> [String] {
        ["meta", "totals"] + StateTable.tables(of: format).map(\.name)
            + (format < clusterFormat ? [] : [RecordChain.tableName])
    }

    /// Refuses a file that lacks a table, before a statement does that in words of SQL.
    static func checkTables(
        _ names: [String],
        of database: Database,
        _ file: String
    ) throws(StorageError) {
        let found = try tables(in: database)
        guard let missing = names.first(where: { !found.contains($0) }) else { return }
        throw .notAState(file: file, reason: "it has no table \(missing)")
    }

    /// The names of the tables that a file has.
    static func tables(in database: Database) throws(StorageError) -> Set<String> {
        let row = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        var found: Set<String> = []
        while try row.step() { found.insert(row.text(0) ?? "") }
        return found
    }

    /// The format of a file, which every format keeps in the same column.
    static func format(of database: Database) throws(StorageError) -> Int64 {
        let row = try database.prepare("SELECT format FROM meta")
        return try row.step() ? row.int64(0) : 0
    }
}

/// What makes a file of one format one of the next.
///
/// A format keeps the columns of `meta` that the one before had, so that every program can say of
/// every file which format it is.
package struct StateMigration: Sendable {
    package let format: Int64
    /// The statements, run in one transaction with all migrations that are due.
    package let statements: [String]

    package init(from format: Int64, statements: [String]) {
        self.format = format
        self.statements = statements
    }

    /// All that there are, in the order of formats without gaps.
    package static let all = (1..<StateSchema.format).map { format in
        let tables = StateTable.allCases.filter { $0.firstFormat == format + 1 }
        return StateMigration(
            from: format,
            statements: StateSchema.statements(of: format + 1) + tables.map(TableTotals.insertion)
        )
    }

    /// Brings the file to the format after the last migration; copies it before if files are given.
    static func run(
        _ migrations: [StateMigration],
        on database: Database,
        from format: Int64,
        _ meta: StateMeta,
        copyingIn files: (any JournalFiles)?
    ) throws(StorageError) {
        let due = migrations.filter { $0.format >= format }
        guard due.first?.format == format else {
            throw .damagedRow(
                table: "meta",
                key: "the only row",
                reason: "no program wrote format \(format)"
            )
        }
        if let files { try copy(database, format, files) }
        try database.transaction { () throws(StorageError) in
            for migration in due {
                for statement in migration.statements { try database.execute(statement) }
            }
            try meta.write(database, format: format + Int64(due.count))
        }
    }

    /// Keeps the file as it was beside it, durably: the programs of its format can still read it.
    private static func copy(
        _ database: Database,
        _ format: Int64,
        _ files: any JournalFiles
    ) throws(StorageError) {
        // SQLite would make it as the process's mask has it.
        _ = try files.create("\(StateDatabase.fileName).format-\(format)")
        _ = try Backup(of: database, to: "\(database.path).format-\(format)").step()
        try files.open("\(StateDatabase.fileName).format-\(format)")?.sync()
        try files.syncDirectory(".")
    }
}
