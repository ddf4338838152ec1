import FeedJournal
import Testing

/// The texts of errors hold for any record numbers, as they come from the names of files.
struct JournalErrorTests {
    @Test func recordsAreNamedByTheirBounds() {
        #expect(
            "\(JournalError.missing(records: 7...7))" == "Record 7 is in no file of the journal."
        )
        #expect(
            "\(JournalError.missing(records: 0...UInt64.max))"
                == "Records 0 to 18446744073709551615 are in no file of the journal."
        )
    }
}
