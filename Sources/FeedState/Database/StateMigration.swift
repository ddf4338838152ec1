import FeedJournal
import FeedSQLite

/// What makes a file of one format one of the next.
///
/// A format keeps the columns of `meta` that the one before had, so that every program can say of
/// every file which format it is.
package struct StateMigration: Sendable {
    /// The format it begins from; it leads to the one after.
    package let format: Int64

    /// The statements, run in one transaction with all migrations that are due.
    package let statements: [String]

    /// What leads from a format to the next.
    package init(from format: Int64, statements: [String]) {
        self.format = format
        self.statements = statements
    }

    /// All that there are, in the order of formats without gaps.
    package static let all = [
        StateMigration(
            from: 1,
            statements: StateSchema.secondStatements
                + StateTable.tables(of: 2).filter { !StateTable.tables(of: 1).contains($0) }
                .map(TableTotals.insertion)
        )
    ]

    /// Copies the file and brings it to the format after the last migration.
    static func run(
        _ migrations: [StateMigration],
        on database: Database,
        format: Int64,
        _ meta: StateMeta,
        _ files: any JournalFiles
    ) throws(StateError) {
        let due = migrations.filter { $0.format >= format }
        guard due.first?.format == format else {
            throw .damaged(
                table: "meta",
                key: "the only row",
                reason: "no program wrote format \(format)"
            )
        }
        try copy(database, format, files)
        try databaseErrors { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                for migration in due {
                    for statement in migration.statements { try database.execute(statement) }
                }
                try meta.write(database, format: format + Int64(due.count))
            }
        }
    }

    /// Keeps the file as it was beside it, durably: the programs of its format can still read it.
    private static func copy(
        _ database: Database,
        _ format: Int64,
        _ files: any JournalFiles
    ) throws(StateError) {
        // SQLite would make it as the process's mask has it.
        _ = try fileErrors { () throws(FileError) in
            try files.create("\(StateDatabase.fileName).format-\(format)")
        }
        try databaseErrors { () throws(SQLiteError) in
            _ = try Backup(of: database, to: "\(database.path).format-\(format)").step()
        }
        try fileErrors { () throws(FileError) in
            try files.open("\(StateDatabase.fileName).format-\(format)")?.sync()
            try files.syncDirectory(".")
        }
    }
}
