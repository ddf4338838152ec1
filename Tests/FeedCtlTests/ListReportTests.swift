import FeedClient
import FeedCtl
import FeedProto
import Testing

/// What a list says of its ranks, and how it continues.
struct ListReportTests {
    static let token = PageToken(bytes: [0xFB, 0xFF])

    static func page(_ ids: [UInt64], firstRank: UInt64) -> Page {
        Page(posts: ids.map { Post(id: $0, title: "t") }, firstRank: firstRank, totalSize: 40)
    }

    static func header(_ report: PageReport) -> [Substring] {
        ReportTests.text(report).prefix { $0 != "\n" }.split(separator: " ")
    }

    static let partial: [(PostList, Bool)] = [
        (PostList(authorID: 7), false), (PostList(unreadOnly: true, includesDismissed: true), true),
        (PostList(), true),
    ]

    @Test("ranks are left out where posts may be", arguments: partial)
    func leavesRanksOut(_ list: PostList, _ hasViewer: Bool) {
        let report = PageReport(
            [Self.page([1, 2], firstRank: 3)],
            of: list,
            hasViewer: hasViewer
        )
        #expect(Self.header(report) == ["SCORE", "COMMENTS", "AGE", "ID", "TITLE"])
    }

    @Test("ranks are shown where all posts are", arguments: [false, true])
    func showsRanks(_ hasViewer: Bool) {
        let list = PostList(window: .week, includesDismissed: hasViewer)
        let report = PageReport([Self.page([1], firstRank: 3)], of: list, hasViewer: hasViewer)
        #expect(Self.header(report).first == "RANK")
    }

    @Test func newerPostsHaveNoRanksAndATokenToContinueWith() {
        var page = Self.page([8, 7], firstRank: 0)
        page.refresh = Self.token
        page.newerCount = 46
        let report = PageReport([page])
        #expect(Self.header(report).first == "SCORE")
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines.suffix(2) == ["Newer:  --page-token -_8", "46 newer posts."])
    }

    @Test func saysWhereTheSnapshotEnds() {
        var pages = [Self.page([1], firstRank: 1000), Self.page([2], firstRank: 1001)]
        pages[0].consistency = .stable
        pages[1].consistency = .live
        let line = "From rank 1001 on: live."
        #expect(ReportTests.text(PageReport(pages)).contains("\n\(line)\n"))
        // A list that was asked for as STABLE may be LIVE as a whole; another one is never STABLE.
        let asked = PageReport([pages[1]], of: PostList(consistency: .stable))
        #expect(ReportTests.text(asked).contains("\n\(line)\n"))
        for page in pages { #expect(!ReportTests.text(PageReport([page])).contains("live")) }
    }

    @Test func continuesWithTheWholeCommand() {
        let typed = [
            "feedctl", "list", "--order", "hot", "--around", "7", "--page-token=x", "--from-rank",
            "2",
            "--newer-than", "3", "--author", "5", "--service-key-file", "/my keys/it's", "--feed",
            "",
        ]
        var page = Self.page([1], firstRank: 3)
        page.next = Self.token
        page.previous = Self.token
        let report = PageReport([page], commandLine: ListCommandLine(typed))
        let command =
            "feedctl list --order hot --author 5 --service-key-file '/my keys/it'\\''s' --feed '' "
            + "--page-token -_8"
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines.suffix(2) == ["Before: \(command)", "After:  \(command)"])
    }

    @Test func eachPageCountsFromItsOwnFirstRank() {
        // A post of the snapshot was deleted between the two pages.
        let report = PageReport([Self.page([1], firstRank: 1), Self.page([2], firstRank: 3)])
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines[1].hasPrefix("   1 ") && lines[2].hasPrefix("   3 "))
    }
}
