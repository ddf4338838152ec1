internal import Foundation

extension RunRecord {
    /// Reads the record in the JSON report of an earlier run; refuses a file that is no report or
    /// is incomplete.
    package init(readingReport path: String) throws(RunFailure) {
        let file: ReportFile
        do {
            let bytes = try Data(contentsOf: URL(filePath: path))
            file = try JSONDecoder().decode(ReportFile.self, from: bytes)
        } catch let error as DecodingError {
            throw .badRecord(path, Self.cause(error))
        } catch {
            throw .badRecord(path, error.localizedDescription)
        }
        guard file.schema == 1 else {
            throw .badRecord(path, "The report has schema \(file.schema); this program reads 1.")
        }
        guard let members = file.record else {
            throw .badRecord(path, "The run made no posts, so there is nothing to audit.")
        }
        guard let record = members.record else {
            throw .badRecord(path, "The numbers of its record do not fit together.")
        }
        self = record
    }

    private static func cause(_ error: DecodingError) -> String {
        switch error {
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            "The file is no JSON, or not all of it."
        case .keyNotFound(let key, _):
            "The file is no JSON report of loadgen: it has no \"\(key.stringValue)\"."
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            """
            The file is no JSON report of loadgen: \
            "\(context.codingPath.map(\.stringValue).joined(separator: "."))" is not what it has there.
            """
        @unknown default: "The file is no JSON report of loadgen."
        }
    }
}

/// The part of a report that is read.
private struct ReportFile: Decodable {
    var schema: Int
    var record: RunRecordJSON?
}
