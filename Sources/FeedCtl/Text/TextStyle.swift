/// What a text depends on beside its content.
package struct TextStyle: Sendable {
    /// The time now, since the Unix epoch.
    package let nowMilliseconds: Int64
    /// The width of a line; nil, where the output is no terminal, means no limit.
    package let columnCount: Int?
    /// Whether the heads of tables are bold: on a terminal only, and not where `NO_COLOR` is set.
    package let isBold: Bool

    /// A style for a moment and a terminal.
    package init(nowMilliseconds: Int64, columnCount: Int?, isBold: Bool = false) {
        self.nowMilliseconds = nowMilliseconds
        self.columnCount = columnCount
        self.isBold = isBold
    }
}
