import FeedJournal
import FeedState
import Foundation
import Testing

/// The refusal to restore a moment is in `docs/REFUSALS.md` in the words that are printed.
@Suite struct MomentWordsTests {
    @Test func aMomentThatIsNotThereIsInTheDocument() throws {
        let error = RestoreError.noMoment(
            "/srv/feed",
            .time(Date(timeIntervalSince1970: 1_800_000_000)),
            .journal(.missing(records: 8...9)),
            "Moments from 2027-01-15T06:00:00.123Z to 2027-01-15T07:59:59.000Z, record 7, can be had. "
                + "Each backup can be had as it is, the oldest one by --at 20270115T060000123Z."
        )
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: "/srv/feed", flags: ["--at", "2027-01-15T06:00:00Z"]),
            into: "/srv/feed.restored"
        )
        #expect(refusal.exitStatus == 5)
        try expectInDocument(refusal)
    }

    @Test(arguments: [1234...1234, 1234...1250])
    func aMomentOfAWrongClockIsInTheDocument(revisions: ClosedRange<UInt64>) throws {
        let error = RestoreError.noMoment(
            "/srv/feed",
            .time(Date(timeIntervalSince1970: 1_800_000_000)),
            .wrongClock(revisions: revisions),
            "Moments from 2027-01-15T06:00:00.123Z to 2027-01-15T07:59:59.000Z, record 7, can be had. "
                + "Each backup can be had as it is, the oldest one by --at 20270115T060000123Z."
        )
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: "/srv/feed", flags: ["--at", "2027-01-15T06:00:00Z"]),
            into: "/srv/feed.restored"
        )
        #expect(refusal.exitStatus == 2)
        try expectInDocument(refusal)
    }

    @Test("the commands of a restore that is refused have its flag again")
    func momentIntoADirectoryInUse() throws {
        let error = RestoreError.state(.directory(.locked(path: "/srv/feed", holder: 7)))
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: "/srv/old", flags: ["--at", "2027-01-15T06:00:00Z"]),
            into: "/srv/feed"
        )
        try expectInDocument(refusal)
    }

    @Test("a restore that was interrupted is to be typed again with its flag")
    func interruptedMoment() throws {
        let error = StateStartError.restoreInterrupted(
            path: "/srv/feed",
            source: "/srv/old",
            flags: ["--at", "2027-01-15T06:00:00Z"]
        )
        let refusal = StartRefusal(error, directory: "/srv/feed")
        try expectInDocument(refusal)
    }

    private func expectInDocument(_ refusal: StartRefusal) throws {
        let text = RefusalWordsTests.general("feed-service: \(refusal)", "/srv/feed")
        #expect(
            try RefusalWordsTests.document().contains("```\n\(text)\n```"),
            "not in the document:\n\(text)"
        )
    }
}
