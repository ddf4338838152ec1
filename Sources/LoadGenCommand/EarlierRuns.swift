import Foundation
import LoadGen

/// What `loadgen report` does with the files of earlier runs.
struct EarlierRuns {
    private let paths: [String]

    /// The runs in the files at `paths`.
    init(_ paths: [String]) {
        self.paths = paths
    }

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
            let rendered = ReportPage(documents).rendered()
            try outputs.write(text: nil, json: nil, page: rendered)
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
        try outputs.write(
            text: text,
            json: json == nil ? nil : merged.map { $0.json },
            page: page == nil ? nil : try self.page(documents, merged)
        )
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

    private func page(_ documents: [ReportDocument], _ merged: RunReport?) throws -> String {
        if documents.count == 1 { return ReportPage(documents).rendered() }
        if let merged,
            let document = ReportDocument(parsing: merged.json, name: "run")
        {
            return ReportPage([document]).rendered()
        }
        guard documents.count <= ReportPage.mostDocuments else {
            throw FlagError(
                flag: "--html",
                expected: "at most \(ReportPage.mostDocuments) runs on a page",
                actual: "\(documents.count)"
            )
        }
        return ReportPage(documents).rendered()
    }
}
