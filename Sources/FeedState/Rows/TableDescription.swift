import FeedSQLite

/// A row of a table of `state.db`.
///
/// ``visit(_:)`` names each column once, in the order of the table. The table's SQL, what is bound and what
/// is read, and the checksum all come from that. So a row is read back as it was written, and no column is
/// left out of one of them. Keys come first, then numbers, then texts, and packed bytes last; a text before
/// numbers is summed behind them (``Columns/sum(text:)``).
protocol DescribedRow {
    static var tableName: String { get }

    /// What checksums of its rows begin with, which tells them from those of other tables.
    static var seed: UInt64 { get }

    static var indexes: [String] { get }

    /// What is wrong with a row of which a column has a value that is none of its field.
    static var impossible: String { get }

    /// What is wrong with a row whose checksum fits, and whose values do not fit one another.
    static var unfit: String { get }

    init()

    /// Calls a method of `columns` for each column, with what the row has there.
    mutating func visit(_ columns: inout Columns)

    /// How messages call the row that a statement stands at.
    static func name(of row: Statement) -> String
}

/// What a column of type INTEGER has.
protocol ColumnNumber {
    /// The value of a column; nil where it is none.
    init?(column: Int64)

    /// The value as a column has it, whose bits are summed.
    var column: Int64 { get }

    /// Whether the bits mean a number without sign.
    static var isUnsigned: Bool { get }
}

/// What a column of type BLOB has that is always as long; its words are summed as numbers.
protocol ColumnBytes {
    init?(column: Span<UInt8>)
    func append(to bytes: inout [UInt8])
    func visitWords(_ body: (UInt64) -> Void)
}

/// What a column of type BLOB has that holds many values.
protocol PackedColumn {
    /// Fills it from a row's bytes; false where no program wrote them.
    mutating func read(_ bytes: Span<UInt8>) -> Bool

    /// Writes it in place of what the array held.
    func write(into bytes: inout [UInt8])
}

/// What is done with each column of a row: it is listed, bound or read, and added to the checksum.
///
/// The checksum has the numbers of a row at once, then its texts, then its packed bytes.
struct Columns {
    struct Use {
        var isKey = false
        var isSummed = true
        /// It is the number of the only row.
        var isOne = false
        /// The format that has added the column; 0 where it came with the table.
        ///
        /// The rows of earlier formats have 0 in it, and their checksums stay: another number comes last.
        var format: Int64 = 0

        static let key = Use(isKey: true)
        static let unsummedKey = Use(isKey: true, isSummed: false)
    }

    fileprivate enum Task {
        case list, bindKey, bind, read, sum
    }

    private let task: Task
    private let row: Statement?
    private let buffer: RowBuffer?
    private var index = 0
    fileprivate private(set) var byteCount = 0
    fileprivate private(set) var error: StorageError?
    fileprivate private(set) var isPossible = true
    fileprivate private(set) var isFit = true
    fileprivate private(set) var sumIndex = 0
    fileprivate private(set) var storedSum: UInt64 = 0
    private var checksum: RowSum
    /// The numbers that are to be added to the checksum.
    private var numbers: [12 of UInt64] = .init(repeating: 0)
    private var numberCount = 0

    @inline(__always)
    fileprivate init(
        _ task: Task,
        _ row: Statement? = nil,
        _ buffer: RowBuffer? = nil,
        seed: UInt64 = 0
    ) {
        self.task = task
        self.row = row
        self.buffer = buffer
        checksum = RowSum(seed: seed)
    }

    /// The checksum of all columns that were visited.
    @inline(__always)
    fileprivate mutating func sum() -> UInt64 {
        sumNumbers()
        return checksum.value
    }

    mutating func one() {
        var id: Int64 = 1
        number("id", &id, as: Use(isKey: true, isSummed: false, isOne: true))
    }

    @inline(__always)
    mutating func number<Value: ColumnNumber>(
        _ name: StaticString,
        _ value: inout Value,
        as use: Use = Use()
    ) {
        switch task {
        case .list: list(name, "INTEGER", use, isUnsigned: Value.isUnsigned)
        case .bind, .bindKey:
            let column = value.column
            bind(use) { (row, index) throws(StorageError) in try row.bind(column, at: index) }
        case .read: read(&value) { Value(column: $0.int64($1)) }
        case .sum: break
        }
        guard use.isSummed else { return }
        let number = UInt64(bits: value.column)
        guard use.format > 0 else { return sum(number) }
        // Without the number the sum is what it was in the format before.
        guard number != 0 else { return }
        sumNumbers()
        checksum.add([number])
    }

    @inline(__always)
    mutating func bytes<Value: ColumnBytes>(
        _ name: StaticString,
        _ value: inout Value,
        as use: Use = Use()
    ) {
        switch task {
        case .list: list(name, "BLOB", use)
        case .bind, .bindKey:
            var bytes: [UInt8] = []
            value.append(to: &bytes)
            bind(use) { (row, index) throws(StorageError) in try row.bind(bytes, at: index) }
        case .read: read(&value) { $0.withBlob($1) { Value(column: $0) } }
        case .sum: break
        }
        value.visitWords { sum($0) }
    }

    /// A text, which is not summed where numbers follow.
    @inline(__always)
    mutating func text(_ name: StaticString, _ value: inout String, isSummed: Bool = true) {
        switch task {
        case .list: return list(name, "TEXT")
        case .bindKey: return
        case .bind:
            byteCount += value.utf8.count
            bind { (row, index) throws(StorageError) in try row.bind(value, at: index) }
        case .read:
            if let found = row?.text(index) { value = found } else { isPossible = false }
            index += 1
        case .sum: break
        }
        if isSummed { sum(text: value) }
    }

    @inline(__always)
    mutating func packed(_ name: StaticString, _ value: inout some PackedColumn) {
        switch task {
        case .list: list(name, "BLOB")
        case .bind:
            guard let buffer else { preconditionFailure("Packed bytes have a buffer.") }
            value.write(into: &buffer.bytes)
            let bytes = buffer.bytes
            byteCount += bytes.count
            sumNumbers()
            checksum.add(bytes.span)
            bind { (row, index) throws(StorageError) in try row.bind(bytes, at: index) }
        case .read:
            sumNumbers()
            var sum = checksum
            let fits = row?.withBlob(index) { blob in
                sum.add(blob)
                return value.read(blob)
            }
            checksum = sum
            isFit = fits ?? false
            index += 1
        case .sum, .bindKey: break
        }
    }

    @inline(__always)
    mutating func sumColumn() {
        switch task {
        case .list: list("sum", "INTEGER")
        case .bind:
            index += 1
            sumIndex = index
        case .read:
            storedSum = row?.uint64(index) ?? 0
            index += 1
        case .sum, .bindKey: break
        }
    }

    /// Adds a number to the checksum that is in no column that is summed.
    @inline(__always)
    mutating func sum(_ number: UInt64) {
        numbers[numberCount] = number
        numberCount += 1
    }

    @inline(__always)
    mutating func sum(text: String) {
        sumNumbers()
        checksum.add(text)
    }

    @inline(__always)
    private mutating func sumNumbers() {
        guard numberCount > 0 else { return }
        checksum.add(numbers.span.extracting(0..<numberCount))
        numberCount = 0
    }

    /// Whether the values so far are possible, where they are read.
    @inline(__always)
    mutating func require(_ arePossible: @autoclosure () -> Bool) {
        if task == .read { isPossible = isPossible && arePossible() }
    }

    /// Whether the values of a row with the right checksum fit one another, where they are read.
    @inline(__always)
    mutating func require(fit: @autoclosure () -> Bool) {
        if task == .read { isFit = isFit && fit() }
    }

    private func list(
        _ name: StaticString,
        _ type: String,
        _ use: Use = Use(),
        isUnsigned: Bool = false
    ) {
        let name = "\(name)"
        buffer?.columns.append(.init(name: name, type: type, use: use, isUnsigned: isUnsigned))
    }

    @inline(__always)
    private mutating func bind(
        _ use: Use = Use(),
        _ body: (Statement, Int) throws(StorageError) -> Void
    ) {
        if task == .bindKey, !use.isKey { return }
        index += 1
        guard let row, error == nil else { return }
        do {
            try body(row, index)
        } catch {
            self.error = error
        }
    }

    @inline(__always)
    private mutating func read<Value>(_ value: inout Value, _ body: (Statement, Int) -> Value?) {
        if let row, let found = body(row, index) { value = found } else { isPossible = false }
        index += 1
    }
}

/// What a visit makes beside a row, kept from row to row.
final class RowBuffer {
    fileprivate var bytes: [UInt8] = []
    fileprivate var columns: [TableDescription.Column] = []
}

extension DescribedRow {
    static var indexes: [String] { [] }
    static var impossible: String { "a field has an impossible value" }
    static var unfit: String { impossible }

    static func name(of row: Statement) -> String {
        let values = TableDescription(Self.self).keys.enumerated().map { index, key in
            key.isUnsigned ? "\(row.uint64(index))" : "\(row.int64(index))"
        }
        return values.count == 1 ? "row \(values[0])" : "row (\(values.joined(separator: ", ")))"
    }

    mutating func bindKey(to statement: Statement) throws(StorageError) {
        var columns = Columns(.bindKey, statement)
        visit(&columns)
        if let error = columns.error { throw error }
    }

    /// Writes the row by the statement ``TableDescription/upsert``; gives the checksum, and the bytes of
    /// texts and packed columns.
    @discardableResult
    mutating func write(
        by statement: Statement,
        _ buffer: RowBuffer
    ) throws(StorageError) -> (sum: UInt64, byteCount: Int) {
        var columns = Columns(.bind, statement, buffer, seed: Self.seed)
        visit(&columns)
        if let error = columns.error { throw error }
        let sum = columns.sum()
        try statement.bind(sum, at: columns.sumIndex)
        try statement.run()
        return (sum, columns.byteCount)
    }

    /// Reads the row that a statement stands at; gives its checksum.
    mutating func read(_ row: Statement) throws(StorageError) -> UInt64 {
        var columns = Columns(.read, row, seed: Self.seed)
        visit(&columns)
        guard columns.isPossible else { throw Self.damaged(Self.name(of: row), Self.impossible) }
        guard columns.storedSum == columns.sum() else {
            throw Self.damaged(Self.name(of: row), "the checksum does not fit the row")
        }
        guard columns.isFit else { throw Self.damaged(Self.name(of: row), Self.unfit) }
        return columns.storedSum
    }

    mutating func checksum() -> UInt64 {
        var columns = Columns(.sum, seed: Self.seed)
        visit(&columns)
        return columns.sum()
    }

    static func damaged(_ name: String, _ reason: String) -> StorageError {
        .damagedRow(table: tableName, key: name, reason: reason)
    }
}

protocol OneRow: DescribedRow {}

extension OneRow {
    static func name(of row: Statement) -> String { "the only row" }

    static func damaged(_ reason: String) -> StorageError { damaged("the only row", reason) }

    /// Reads the row; gives the statement that stands at it, nil where there is none.
    mutating func readOne(_ database: Database) throws(StorageError) -> Statement? {
        let statement = try database.prepare(TableDescription(Self.self).selectAll(of: .max))
        guard try statement.step() else { return nil }
        _ = try read(statement)
        return statement
    }

    mutating func writeOne(_ database: Database) throws(StorageError) {
        try write(by: database.prepare(TableDescription(Self.self).upsert), RowBuffer())
    }
}

struct TableDescription {
    fileprivate struct Column {
        let name: String
        let type: String
        let use: Columns.Use
        let isUnsigned: Bool

        func declaration(isCompound: Bool) -> String {
            let key = use.isKey && !isCompound ? "PRIMARY KEY" : "NOT NULL"
            return "\(name) \(type) \(key)" + (use.isOne ? " CHECK (id = 1)" : "")
        }
    }

    /// How long a line of the schema is, as `.schema` shows it.
    private static let lineWidth = 84

    private let name: String
    private let columns: [Column]
    private let indexes: [String]

    init<Row: DescribedRow>(_: Row.Type) {
        var row = Row()
        let buffer = RowBuffer()
        var lister = Columns(.list, nil, buffer)
        row.visit(&lister)
        name = Row.tableName
        columns = buffer.columns
        indexes = Row.indexes
    }

    fileprivate var keys: ArraySlice<Column> { columns.prefix { $0.use.isKey } }

    /// What makes the table as it was first, and its indexes.
    var creation: [String] { ["CREATE TABLE \(definition)"] + indexes }

    /// The same for a file that may have it.
    var creationIfMissing: String { "CREATE TABLE IF NOT EXISTS \(definition)" }

    private var definition: String {
        let isCompound = keys.count > 1
        var parts = columns.filter { $0.use.format == 0 }.map {
            $0.declaration(isCompound: isCompound)
        }
        if isCompound { parts.append("PRIMARY KEY (\(Self.list(keys.map(\.name))))") }
        var text = "\(name) ("
        var width = Self.lineWidth
        for (index, part) in parts.enumerated() {
            let item = index + 1 < parts.count ? "\(part)," : part
            let fits = width + item.utf8.count < Self.lineWidth
            text += fits ? " \(item)" : "\n    \(item)"
            width = (fits ? width + 1 : 0) + item.utf8.count
        }
        let hasRowID = !isCompound && keys.first?.type == "INTEGER"
        return "\(text)\n) STRICT" + (hasRowID ? "" : ", WITHOUT ROWID")
    }

    func additions(of format: Int64) -> [String] {
        columns.filter { $0.use.format == format }.map {
            "ALTER TABLE \(name) ADD COLUMN \($0.name) \($0.type) NOT NULL DEFAULT 0"
        }
    }

    var upsert: String {
        let (names, values) = (columns.map(\.name), columns.map { _ in "?" })
        let row = "(\(Self.list(names))) VALUES (\(Self.list(values)))"
        return "INSERT OR REPLACE INTO \(name) \(row)"
    }

    var selectOne: String { "\(select(of: .max)) WHERE \(keyCondition)" }

    /// Reads all rows of a file of a format, in the order of their keys.
    func selectAll(of format: Int64) -> String {
        "\(select(of: format)) ORDER BY \(Self.list(keys.map(\.name)))"
    }

    /// Reads the checksums of the rows of a condition, which is that of a key where none is given.
    func selectSums(where condition: String? = nil) -> String {
        "SELECT sum FROM \(name) WHERE \(condition ?? keyCondition)"
    }

    func delete(where condition: String? = nil) -> String {
        "DELETE FROM \(name) WHERE \(condition ?? keyCondition)"
    }

    private func select(of format: Int64) -> String {
        "SELECT \(Self.list(columns.map { $0.use.format <= format ? $0.name : "0" })) FROM \(name)"
    }

    private var keyCondition: String { keys.map { "\($0.name) = ?" }.joined(separator: " AND ") }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
