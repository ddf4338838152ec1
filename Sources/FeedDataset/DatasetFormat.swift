/// How a file says what a post has, where that is not what its first line and its values show.
package struct DatasetFormat: Equatable, Sendable {
    /// The columns of fields, by the names in the file.
    package var columns: [DatasetField: String] = [:]
    package var time = TimeFormat.usual

    package init() {}

    /// A format as `--columns` (`title=Title,upvotes=score`) and `--time-format` say it; nil is none.
    ///
    /// Throws what is wrong, as a sentence that begins with the flag.
    package init(columns: String?, time: String?) throws(DatasetFormatError) {
        for pair in columns?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let field = DatasetField(rawValue: String(parts[0])),
                !parts[1].isEmpty, self.columns[field] == nil
            else {
                let fields = DatasetField.allCases.map(\.rawValue).joined(separator: ", ")
                throw DatasetFormatError(
                    description:
                        "--columns: expected FIELD=NAME,…, with each field once of \(fields), "
                        + "got \(String(pair).quotedStart)."
                )
            }
            self.columns[field] = String(parts[1])
        }
        guard let time else { return }
        guard let format = TimeFormat(time) else {
            throw DatasetFormatError(
                description: "--time-format: expected seconds, milliseconds, iso, or a pattern of "
                    + "\(TimePattern.directives), as %m/%d/%Y %H:%M, got \(time.quotedStart)."
            )
        }
        self.time = format
    }
}

/// What is wrong with the flags of a format.
package struct DatasetFormatError: Error, Equatable, CustomStringConvertible {
    /// The flag, what it takes, and the value.
    package let description: String
}
