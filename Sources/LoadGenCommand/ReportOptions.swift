package import ArgumentParser

/// The flags of `loadgen report` as typed.
package struct ReportOptions: ParsableCommand {
    /// The command's introduction in the help.
    package static let configuration = CommandConfiguration(
        commandName: "loadgen report",
        abstract:
            "Shows the results of earlier runs: one, several merged, or several side by side.",
        discussion: """
            Each file is one of --json. Files of one run, which several generators loaded together \
            (--run-id), are merged: histograms are added, so that the percentiles are exact. Files of \
            different runs are shown side by side.
            """
    )

    /// No flag given.
    package init() {}

    /// The files.
    @Argument(help: "The JSON reports of runs.")
    package var files: [String]
    /// Where the page goes.
    @Option(help: "Write the report as one page of HTML with charts to this file.")
    package var html: String?
    /// Where the merged result goes.
    @Option(
        help: "Write the merged result of one run as JSON to this file, or - for standard output."
    )
    package var json: String?
}
