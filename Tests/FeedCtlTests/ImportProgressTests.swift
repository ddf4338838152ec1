import FeedCtl
import Testing

/// What of a file is in the feed where batches behind a failed one were imported.
struct ImportProgressTests {
    @Test func namesTheLineUpToWhichAllIsInAndWhatIsBehind() {
        var progress = ImportProgress(fromLine: 1)
        progress.add(number: 0, rows: 2...257, importedCount: 250)
        #expect(
            progress.description == """
                250 posts were imported before. All up to line 257 is in; --from-line 258 goes on.
                """
        )
        progress.add(number: 2, rows: 514...769, importedCount: 256)
        #expect(
            progress.description == """
                506 posts were imported before. All up to line 257 is in; --from-line 258 goes on. \
                Lines 514 to 769 are in, too.
                """
        )
    }

    @Test func goesOnWhereItBegan() {
        #expect(ImportProgress(fromLine: 9).throughLine == 8)
    }
}
