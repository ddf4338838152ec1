internal import FeedDataset
internal import FeedImport
internal import Foundation

/// A file to import, as the command line says how to read it.
struct ImportFile {
    /// Where it is.
    let path: String
    /// Its columns and times.
    let format: DatasetFormat
    /// Rows that begin before this line are not imported.
    let firstLine: Int

    /// Opens the file and reads its first line.
    func open() throws(ImportFailure) -> RowReader {
        do {
            return try RowReader(path: path, format: format, fromLine: firstLine)
        } catch let error as DatasetError {
            throw .unreadable(path: path, reason: error.description)
        } catch {
            throw .unreadable(path: path, reason: error.systemReason)
        }
    }

    /// Reads the file to its end without a service.
    func check() throws -> CheckReport {
        var rows = try open()
        var report = CheckReport(columns: rows.columns)
        do {
            while let row = try rows.next() {
                switch row {
                case .post: report.postCount += 1
                case .rejected(let rejection): report.leftOut.append(LeftOutPost(rejection))
                }
            }
        } catch {
            let reason = (error as? DatasetError)?.description ?? error.systemReason
            throw ImportFailure.unreadable(path: path, reason: reason)
        }
        return report
    }
}
