import FeedJournal
import FeedState
import Testing

/// A directory that is refused is left as it is.
@Suite struct RefusedDirectoryTests {
    @Test(arguments: [(false, nil), (true, nil), (false, 7)] as [(Bool, UInt64?)])
    func aFilledJournalAloneIsRefusedBeforeTheLockIsMade(
        mustExist: Bool,
        acceptedLoss: UInt64?
    ) throws {
        let directory = try DataDirectory()
        try directory.files.createDirectory("journal")
        try directory.write("journal/segment.log", [1])
        try directory.files.remove("lock")
        directory.unlock()
        var options = StateOptions(path: directory.path, logCount: 1)
        options.mustExist = mustExist
        options.acceptedLoss = acceptedLoss
        do throws(StateStartError) {
            _ = try StateDirectory(options)
            Issue.record("the directory was locked")
        } catch {
            guard case .missingDatabase = error else { throw error }
            #expect(error.exitStatus == 5)
        }
        #expect(try POSIXFiles.names(atPath: directory.path) == ["journal"])
        #expect(try POSIXFiles.names(atPath: "\(directory.path)/journal") == ["segment.log"])
    }
}
