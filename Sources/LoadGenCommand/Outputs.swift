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

    /// Writes the text for people, and what else is asked for: where one output cannot be written, the
    /// others still are.
    ///
    /// Without documents the page shows the JSON.
    func write(
        _ text: String?,
        histograms: HistogramFiles? = nil,
        page documents: [ReportDocument]? = nil,
        json makeJSON: () -> String?
    ) throws(OutputError) {
        var failures: [OutputError] = []
        func attempt(_ output: () throws(OutputError) -> Void) {
            do { try output() } catch { failures.append(error) }
        }
        if let text { attempt { () throws(OutputError) in try show(text) } }
        let report = json != nil || page != nil && documents == nil ? makeJSON() : nil
        if let report { attempt { () throws(OutputError) in try json?.write(report) } }
        if let page, let shown = documents ?? report.flatMap(Self.documents) {
            let html = ReportPage(shown).rendered()
            attempt { () throws(OutputError) in try page.write(html) }
        }
        for (suffix, text) in histogramPrefix == nil ? [] : histograms?.texts ?? [] {
            attempt { () throws(OutputError) in try histogramFile(suffix)?.write(text) }
        }
        guard failures.isEmpty else {
            throw OutputError(failures.map(\.description).joined(separator: " "))
        }
    }

    private static func documents(_ report: String) -> [ReportDocument]? {
        ReportDocument(parsing: report, name: "run").map { [$0] }
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

/// The file that a flag names for a report, or standard output where the path is `-` or `/dev/stdout`.
///
/// A report is written into the file that is there: a symbolic link is followed, a file keeps its mode,
/// and a device stays one.
package struct OutputFile: Sendable {
    let flag: String
    let path: String

    package init(flag: String, path: String) {
        self.flag = flag
        self.path = path
    }

    // Opened by its path, a redirected output would lose what it has.
    var isStandardOutput: Bool { path == "-" || path == "/dev/stdout" }

    /// What two paths to one file have in common; nil for a pipe or a device, which several may write.
    package var place: String? {
        let target = (isStandardOutput ? URL(filePath: "/dev/stdout") : url)
            .resolvingSymlinksInPath()
        let path = target.path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if attributes?[.type] as? FileAttributeType == .typeRegular,
            let device = attributes?[.systemNumber], let number = attributes?[.systemFileNumber]
        {
            return "\(device):\(number)"
        }
        if isStandardOutput { return "-" }
        return attributes == nil ? path : nil
    }

    /// Checks before a run that the file can be written; the report of an earlier run stays in it.
    package func check() throws(FlagError) {
        guard !isStandardOutput else { return }
        do {
            if FileManager.default.fileExists(atPath: path) {
                // To open a pipe would wait for its reader.
                guard let type, Self.typesToOpen.contains(type) else { return }
                try FileHandle(forWritingTo: url).close()
            } else {
                try create()
                try FileManager.default.removeItem(at: url.resolvingSymlinksInPath())
            }
        } catch {
            throw FlagError(
                flag: flag,
                expected: "a file that can be written",
                actual: path.isEmpty ? "nothing" : "\(path) (\(error.systemReason))"
            )
        }
    }

    package func write(_ text: String) throws(OutputError) {
        do {
            let bytes = Data(text.utf8)
            guard !isStandardOutput else {
                // A program reads this output and must learn that something is missing.
                return try FileHandle.standardOutput.write(contentsOf: bytes)
            }
            if !FileManager.default.fileExists(atPath: path) { try create() }
            let file = try FileHandle(forWritingTo: url)
            if type == .typeRegular { try file.truncate(atOffset: 0) }
            try file.write(contentsOf: bytes)
            try file.close()
        } catch {
            let name = isStandardOutput ? "standard output" : path
            throw OutputError("\(flag): \(name) could not be written: \(error.systemReason).")
        }
    }

    private static let typesToOpen: [FileAttributeType] = [
        .typeRegular, .typeDirectory, .typeCharacterSpecial, .typeBlockSpecial,
    ]

    private var url: URL { URL(filePath: path) }

    /// What the path leads to; nil where that has no path of its own, as a pipe at `/dev/stdout`.
    private var type: FileAttributeType? {
        let target = url.resolvingSymlinksInPath().path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        return attributes?[.type] as? FileAttributeType
    }

    /// Makes the file, also where a symbolic link leads to none.
    private func create() throws { try Data().write(to: url) }
}

package struct OutputError: Error, Equatable, CustomStringConvertible {
    /// A sentence, or one for each output.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A file that the program reads, and what names it on the command line; no output may go over it.
struct InputFile: Equatable {
    /// The flag, or the command whose argument it is.
    let flag: String
    let path: String

    static func given(_ flags: [(flag: String, path: String?)]) -> [Self] {
        flags.compactMap { flag, path in path.map { Self(flag: flag, path: $0) } }
    }
}

extension LoadOptions {
    var inputs: [InputFile] {
        InputFile.given([
            ("--ca", ca), ("--cert", cert), ("--key", key), ("--service-key-file", serviceKeyFile),
        ])
    }
}

extension Options {
    var inputs: [InputFile] {
        load.inputs + InputFile.given([("--compare", compare), ("--verify-only", verifyOnly)])
    }
}

extension DatasetOptions {
    var inputs: [InputFile] {
        load.inputs + files.map { InputFile(flag: "loadgen dataset", path: $0) }
    }
}

extension Error {
    /// The system's error, where Foundation only says that an operation could not be completed.
    var systemCause: NSError {
        let cause = (self as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        return (cause ?? self) as NSError
    }

    /// The system's reason in its own words, as `No space left on device`.
    var systemReason: String {
        let cause = systemCause
        return cause.localizedFailureReason ?? cause.localizedDescription
    }
}
