import Foundation
import LoadGen

/// Where the reports of a result go: the text to a standard stream, the others where a path asks for
/// them.
struct Outputs {
    private let json: String?
    private let page: String?

    /// Reports to standard output, and to the paths that are not nil; `-` is standard output.
    init(json: String?, page: String?) {
        self.json = json
        self.page = page
    }

    /// Writes the text for people, and what else is asked for, which is made from the JSON.
    func write(_ text: String, json makeJSON: () -> String) throws {
        // With another report on standard output, the text for people goes beside it.
        let isQuietOutput = json == "-" || page == "-"
        Console.write(text, to: isQuietOutput ? .standardError : .standardOutput, terminator: "")
        guard json != nil || page != nil else { return }
        let report = makeJSON()
        if let json { try Self.write(report, to: json) }
        if let page, let document = ReportDocument(parsing: report, name: "run") {
            try Self.write(ReportPage([document]).rendered(), to: page)
        }
    }

    /// Writes a text to the file at `path`, or to standard output where that is `-`.
    static func write(_ text: String, to path: String) throws {
        guard path != "-" else {
            // A program reads this output and must learn that something is missing.
            return try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
