import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import Testing

/// The bytes that changes may log before a commit takes them fit into one record, and so into the
/// ballast, however many loops log them.
@Suite struct AdmittedBytesTests {
    /// What an import of the longest frame logs: its texts, and the numbers of 256 posts.
    static let longestImportByteCount = (1 << 20) + 256 * PostContent().maximumLogEntryByteCount

    @Test(
        "every number of loops: waiting bytes, long and short transactions fill no record"
    )
    func fitsARecordForEveryNumberOfLoops() {
        for logCount in 1...256 {
            let options = StateOptions(path: "unused", logCount: logCount)
            let transactions = logCount * (StateOptions.shortTransactionByteCount + 4)
            let most =
                options.maximumWaitingByteCount + options.maximumLongTransactionByteCount
                + transactions
            #expect(most <= options.journal.maximumBodyByteCount, "\(logCount) loops")
            #expect(options.journal.maximumBodyByteCount < options.journal.space.ballastByteCount)
            #expect(options.maximumWaitingByteCount >= 15 << 20, "\(logCount) loops")
            #expect(
                options.maximumLongTransactionByteCount >= 4 * Self.longestImportByteCount,
                "\(logCount) loops"
            )
        }
    }
}
