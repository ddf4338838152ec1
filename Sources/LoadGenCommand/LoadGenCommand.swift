import ArgumentParser
import Foundation
import LoadGen

/// The program: flags in, report and exit code out.
@main
enum LoadGenCommand {
    static func main() {
        Run.prepareProcess()
        do {
            let arguments = CommandLineArguments(Array(CommandLine.arguments.dropFirst()))
            exit(try run(arguments).rawValue)
        } catch let error as FlagError {
            Console.say("loadgen: \(error)")
            exit(ExitStatus.usage.rawValue)
        } catch let failure as RunFailure {
            Console.say("loadgen: \(failure)")
            exit(failure.exitStatus.rawValue)
        } catch {
            Console.say("loadgen: \(error)")
            exit(ExitStatus.failed.rawValue)
        }
    }

    private static func run(_ arguments: CommandLineArguments) throws -> ExitStatus {
        let options: any ParsableCommand
        do {
            options = try arguments.options()
        } catch {
            let message = arguments.message(for: error)
            guard arguments.isHelp(error) else {
                Console.say(message)
                return .usage
            }
            try Console.print(message + "\n")
            return .success
        }
        return try run(options)
    }

    private static func run(_ options: any ParsableCommand) throws -> ExitStatus {
        let coreCount = ProcessInfo.processInfo.activeProcessorCount
        let isTerminal = isatty(2) == 1
        let console = Console(isTerminal: isTerminal)
        let configuration: RunConfiguration
        let inputs: [InputFile]
        var dataset: Dataset?
        var record: RunRecord?
        var series: SeriesPlan?
        switch options {
        case let options as ReportOptions:
            return try EarlierRuns(paths: options.files).report(
                page: options.html,
                json: options.json
            )
        case let options as Options:
            configuration = try RunConfiguration(
                options,
                coreCount: coreCount,
                isTerminal: isTerminal
            )
            if options.selfCheck { return try checkSelf(configuration, console) }
            inputs = options.inputs
            series = try SeriesPlan(options, seed: configuration.seed)
            record = try configuration.verifiedPath.map { try RunRecord(readingReport: $0) }
            if let comparison = try SideBySideConfiguration(options, configuration) {
                return try compare(configuration, comparison, inputs, console)
            }
        case let options as DatasetOptions:
            configuration = try RunConfiguration(
                options,
                coreCount: coreCount,
                isTerminal: isTerminal
            )
            inputs = options.inputs
            let files = try Dataset(
                reading: options.files,
                columns: options.columns,
                timeFormat: options.timeFormat
            )
            if !options.load.quiet {
                Console.say(DatasetOutline(files, configuration).description)
                for note in files.columnNotes { Console.say(note) }
            }
            dataset = files
        default:
            preconditionFailure("The arguments are the flags of one of the commands.")
        }
        try Outputs(configuration).check(configuration.mix.operations, beside: inputs)
        let baseline = try configuration.comparedPath.map { path in
            try RunFigures(baselineAt: path, for: configuration)
        }
        func execute(_ configuration: RunConfiguration) throws(RunFailure) -> RunReport {
            let run = try Run(
                configuration,
                dataset: dataset,
                verifying: record,
                showProgress: console.showProgress
            )
            return try run.execute()
        }
        var result: RunReport
        if let series {
            let runs = Series(configuration, showProgress: console.showProgress, execute: execute)
            result = try runs.run(series)
        } else {
            result = try execute(configuration)
        }
        if let baseline, let path = configuration.comparedPath {
            result.comparison = Comparison(
                result.figures,
                with: baseline,
                at: path,
                limit: configuration.comparisonLimit
            )
        }
        return try report(result, configuration)
    }

    private static func compare(
        _ configuration: RunConfiguration,
        _ comparison: SideBySideConfiguration,
        _ inputs: [InputFile],
        _ console: Console
    ) throws -> ExitStatus {
        let outputs = Outputs(configuration)
        try outputs.check(beside: inputs)
        let result = try SideBySideRun(
            configuration,
            comparison,
            showProgress: console.showProgress
        ).execute()
        if result.isInterrupted { Console.endIfUnread() }
        try outputs.write(result.text) { result.json }
        return result.exitStatus
    }

    private static func report(
        _ result: RunReport,
        _ configuration: RunConfiguration
    ) throws -> ExitStatus {
        if result.isInterrupted { Console.endIfUnread() }
        let text =
            configuration.verifiedPath.map(result.verificationText)
            ?? TextReport(result).rendered()
        try Outputs(configuration).write(text, histograms: HistogramFiles(result)) {
            result.json
        }
        return result.exitStatus
    }

    private static func checkSelf(
        _ configuration: RunConfiguration,
        _ console: Console
    ) throws -> ExitStatus {
        let outputs = Outputs(json: configuration.jsonPath, page: nil)
        try outputs.check()
        let isShown = configuration.progressInterval != nil
        let check = SelfCheck(seed: configuration.seed) { if isShown { console.showProgress($0) } }
        let result = try check.execute()
        try outputs.write(result.text) { result.json }
        return result.exitStatus
    }
}

/// What `loadgen report` does with the files of earlier runs.
struct EarlierRuns {
    let paths: [String]

    /// Shows the runs on standard output, and writes their page and their merged result.
    func report(page: String?, json: String?) throws -> ExitStatus {
        let outputs = Outputs(json: json, page: page)
        try outputs.check(beside: paths.map { InputFile(flag: "loadgen report", path: $0) })
        guard paths.count <= Self.mostFiles else {
            throw FlagError(
                flag: "loadgen report",
                expected: "at most \(Self.mostFiles) files",
                actual: "\(paths.count)"
            )
        }
        let documents = try paths.map { try ReportDocument(reading: $0) }
        if documents.count == 1, documents[0].isSideBySide, page != nil, json == nil {
            try outputs.write(nil, page: documents) { nil }
            return .success
        }
        if let place = documents.firstIndex(where: \.isSideBySide) {
            throw RunFailure.badFile(
                paths[place],
                "The report is of two services in turns (--ab): alone, --html makes its page."
            )
        }
        try refuseCopies(documents)
        let results = try zip(documents, paths).map { try $0.result(path: $1) }
        let isOneRun = Set(documents.map { $0.runID ?? $0.name }).count == 1
        if json != nil, !isOneRun {
            throw FlagError(
                flag: "--json",
                expected: "files of one run (the same run_id)",
                actual: "\(documents.count) runs"
            )
        }
        let merged = isOneRun ? MergedRuns(results).result : nil
        let text =
            merged.map { TextReport($0).rendered() }
            ?? RunTable(zip(documents.map(\.name), results).map { ($0, $1) }).rendered()
        let shown = page == nil ? nil : try self.shown(documents, merged)
        try outputs.write(text, page: shown) { merged?.json }
        return .success
    }

    /// Refuses a report that is given twice: its votes would count twice.
    private func refuseCopies(_ documents: [ReportDocument]) throws {
        for (place, document) in documents.enumerated() {
            guard let other = documents[..<place].firstIndex(where: document.isCopy) else {
                continue
            }
            throw RunFailure.badFile(
                paths[place],
                "The report is the same as that in \(paths[other])."
            )
        }
    }

    /// More than one run has generators; few enough that their counts add up.
    private static let mostFiles = 1_000

    /// The documents of the page: that of a merged run, or those of several runs.
    private func shown(
        _ documents: [ReportDocument],
        _ merged: RunReport?
    ) throws -> [ReportDocument] {
        if documents.count == 1 { return documents }
        if let merged, let document = ReportDocument(parsing: merged.json, name: "run") {
            return [document]
        }
        guard documents.count <= ReportPage.mostDocuments else {
            throw FlagError(
                flag: "--html",
                expected: "at most \(ReportPage.mostDocuments) runs on a page",
                actual: "\(documents.count)"
            )
        }
        return documents
    }
}
