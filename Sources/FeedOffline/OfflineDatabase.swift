import FeedProto
import FeedSQLite

/// The statements of an offline file: each is prepared once, and errors are those of the feed.
final class OfflineDatabase {
    enum Value {
        case int(Int64)
        case text(String)
        case blob([UInt8])
        case null

        static func number(_ number: UInt64) -> Value { .int(Int64(bitPattern: number)) }
        static func id(_ id: some Identifier) -> Value { .number(id.rawValue) }
        static func flag(_ flag: Bool) -> Value { .int(flag ? 1 : 0) }
    }

    let path: String
    private let database: Database
    private var statements: [String: Statement] = [:]

    init(path: String) throws(OfflineError) {
        self.path = path
        do {
            database = try Database(path: path)
            // About 1 MB, in place of 4: a copy of 2,000 posts has little more.
            try database.setCheckpointInterval(250)
        } catch {
            throw OfflineError(error, path: path)
        }
    }

    /// Runs a statement to its end and calls `body` with each row, until it returns false.
    func rows(
        _ sql: String,
        _ values: [Value] = [],
        _ body: (Statement) throws(OfflineError) -> Bool
    ) throws(OfflineError) {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        while try step(statement) {
            guard try body(statement) else { return }
        }
    }

    /// The value of the first row; nil where there is none.
    func first<Result>(
        _ sql: String,
        _ values: [Value] = [],
        _ body: (Statement) throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result? {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        return try step(statement) ? try body(statement) : nil
    }

    /// The values of all rows, in their order.
    func all<Result>(
        _ sql: String,
        _ values: [Value] = [],
        _ body: (Statement) throws(OfflineError) -> Result
    ) throws(OfflineError) -> [Result] {
        var all: [Result] = []
        try rows(sql, values) { row throws(OfflineError) in
            all.append(try body(row))
            return true
        }
        return all
    }

    /// The number of the first row; nil where there is none.
    func number(_ sql: String, _ values: [Value] = []) throws(OfflineError) -> Int64? {
        try first(sql, values) { $0.int64(0) }
    }

    /// Runs a statement that gives no rows.
    func run(_ sql: String, _ values: [Value] = []) throws(OfflineError) {
        try rows(sql, values) { _ throws(OfflineError) in true }
    }

    /// Calls `body` in a transaction, which is durable on return and undone when it throws.
    func transaction<Result>(
        _ body: () throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(OfflineError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors have undone it already; the one to report is the first.
            if database.isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs statements that are needed once.
    func execute(_ sql: String) throws(OfflineError) {
        do {
            try database.execute(sql)
        } catch {
            throw OfflineError(error, path: path)
        }
    }

    private func step(_ statement: Statement) throws(OfflineError) -> Bool {
        do {
            return try statement.step()
        } catch {
            throw OfflineError(error, path: path)
        }
    }

    private func statement(_ sql: String, _ values: [Value]) throws(OfflineError) -> Statement {
        do throws(StorageError) {
            let statement: Statement
            if let known = statements[sql] {
                statement = known
            } else {
                statement = try database.prepare(sql)
                statements[sql] = statement
            }
            for (index, value) in values.enumerated() {
                switch value {
                case .int(let number): try statement.bind(number, at: index + 1)
                case .text(let text): try statement.bind(text, at: index + 1)
                case .blob(let bytes): try statement.bind(bytes, at: index + 1)
                case .null: try statement.bindNull(at: index + 1)
                }
            }
            return statement
        } catch {
            throw OfflineError(error, path: path)
        }
    }
}

extension Statement {
    /// A copy of a column's bytes.
    func bytes(_ column: Int) -> [UInt8] {
        withBlob(column) { span in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(span.count)
            for index in span.indices { bytes.append(span[index]) }
            return bytes
        }
    }
}

extension OfflineError {
    /// What an error of SQLite means for the feed.
    init(_ error: StorageError, path: String) {
        guard let failure = error.sqlite else {
            self = .file(reason: error.description)
            return
        }
        switch failure.kind {
        // What this version writes fits its tables and their rules.
        case .corrupt, .constraint, .statement: self = .damaged(reason: failure.description)
        case .locked: self = .inUse(path: path)
        case .readOnly, .full, .io, .other: self = .file(reason: failure.description)
        }
    }
}

extension Statement {
    /// The id in a column.
    func id<ID: Identifier>(_ column: Int) -> ID { ID(rawValue: uint64(column)) }
}
