import Foundation
import LoadGen

/// Where the reports of a result go: the text to a standard stream, the others where a path asks for
/// them.
struct Outputs {
    private let json: OutputFile?
    private let page: OutputFile?
    private let histogramPrefix: String?

    /// Reports to standard output, and to the paths that are not nil; `-` is standard output.
    init(json: String?, page: String?, histogramPrefix: String? = nil) {
        self.json = json.map { OutputFile(flag: "--json", path: $0) }
        self.page = page.map { OutputFile(flag: "--html", path: $0) }
        self.histogramPrefix = histogramPrefix
    }

    /// The reports that `configuration` asks for.
    init(_ configuration: RunConfiguration) {
        self.init(
            json: configuration.jsonPath,
            page: configuration.pagePath,
            histogramPrefix: configuration.histogramPrefix
        )
    }

    /// Checks before a run that every file can be written, and that no output goes over another one, or
    /// over a file that is read.
    ///
    /// - Parameters:
    ///   - operations: Those that the run asks for.
    ///   - inputs: The files that are read.
    /// - Throws: The flag of the first output that does not fit.
    func check(
        _ operations: [LoadGen.Operation] = [],
        beside inputs: [InputFile] = []
    ) throws(FlagError) {
        let files =
            [json, page].compactMap(\.self)
            + HistogramFiles.suffixes(operations).compactMap(histogramFile)
        for file in files { try file.check() }
        let text = OutputFile(flag: "the report on standard output", path: "-")
        let isTextBeside = files.contains(where: \.isStandardOutput)
        var owners: [String: String] = [:]
        for input in inputs {
            if let place = OutputFile(flag: input.flag, path: input.path).place {
                owners[place] = input.flag
            }
        }
        for file in (isTextBeside ? [] : [text]) + files {
            guard let place = file.place else { continue }
            guard let owner = owners.updateValue(file.flag, forKey: place) else { continue }
            throw FlagError(
                flag: file.flag,
                expected: "a file of its own",
                actual: "\(file.path), which is that of \(owner)"
            )
        }
    }

    /// Writes the text for people, and what else is asked for, which is made from the JSON.
    func write(
        _ text: String,
        histograms: HistogramFiles? = nil,
        json makeJSON: () -> String
    ) throws(OutputError) {
        var attempts = OutputAttempts()
        attempts.make { () throws(OutputError) in try show(text) }
        let report = json != nil || page != nil ? makeJSON() : ""
        attempts.make { () throws(OutputError) in try json?.write(report) }
        if page != nil, let document = ReportDocument(parsing: report, name: "run") {
            attempts.make { () throws(OutputError) in
                try page?.write(ReportPage([document]).rendered())
            }
        }
        if histogramPrefix != nil {
            for (suffix, text) in histograms?.texts ?? [] {
                attempts.make { () throws(OutputError) in try histogramFile(suffix)?.write(text) }
            }
        }
        try attempts.finish()
    }

    /// Writes texts that are there already; nil is none.
    func write(text: String?, json report: String?, page document: String?) throws(OutputError) {
        var attempts = OutputAttempts()
        attempts.make { () throws(OutputError) in if let text { try show(text) } }
        attempts.make { () throws(OutputError) in if let report { try json?.write(report) } }
        attempts.make { () throws(OutputError) in if let document { try page?.write(document) } }
        try attempts.finish()
    }

    /// Shows the text for people; with another report on standard output, it goes beside it.
    private func show(_ text: String) throws(OutputError) {
        guard json?.isStandardOutput != true, page?.isStandardOutput != true else {
            return Console.say(text, terminator: "")
        }
        try Console.print(text)
    }

    private func histogramFile(_ suffix: String) -> OutputFile? {
        histogramPrefix.map { OutputFile(flag: "--hdr", path: $0 + suffix) }
    }
}

/// Outputs that are written one after another: where one cannot be written, the others still are.
private struct OutputAttempts {
    private var failures: [OutputError] = []

    /// Writes an output.
    mutating func make(_ output: () throws(OutputError) -> Void) {
        do { try output() } catch { failures.append(error) }
    }

    /// Throws what could not be written.
    func finish() throws(OutputError) {
        guard !failures.isEmpty else { return }
        throw OutputError(failures.map(\.description).joined(separator: " "))
    }
}
