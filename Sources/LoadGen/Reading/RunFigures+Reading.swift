extension RunFigures {
    /// Reads the figures of an earlier run from its JSON report.
    ///
    /// - Throws: `RunFailure.badFile` where the file is no report of a run.
    package init(readingReport path: String) throws(RunFailure) {
        let document = try ReportDocument(reading: path)
        self = try document.result(path: path).figures
        // The run has judged itself by more than its report has.
        isComparable = document.isValid
    }

    /// Reads the figures of an earlier run of the load that `configuration` describes.
    ///
    /// - Throws: `RunFailure.badFile`, or `RunFailure.otherLoad` where the load was another.
    package init(
        baselineAt path: String,
        for configuration: RunConfiguration
    ) throws(RunFailure) {
        try self.init(readingReport: path)
        let given = RunSettings(configuration)
        if let (flag, mine, other) = given.difference(from: settings) {
            throw .otherLoad(path, flag: flag, baseline: other, given: mine)
        }
    }

    /// The text for a machine, which is equal only for equal ones.
    package static func machine(_ processor: String, _ coreCount: Int) -> String {
        "\(processor), \(coreCount) cores"
    }
}
