import FeedService
import FeedTestSupport
import Foundation
import Testing

/// The authorisation table, cell by cell, and its copy in docs/PROTOCOL.md.
@Suite
struct AccessTableTests {
    /// A role for each column; a dot where the role may not make the call.
    private static let expected = """
        hello             anonymous device user service
        ping              anonymous device user service
        cancel            anonymous device user service
        sign_up           anonymous device user service
        sign_in           anonymous device user service
        get_session       .         .      user service
        sign_out          .         .      user service
        create_post       anonymous device user service
        import_posts      .         .      .    service
        get_post          anonymous device user service
        batch_get_posts   anonymous device user service
        list_posts        anonymous device user service
        update_post       .         .      user service
        delete_post       .         .      user service
        sync_posts        anonymous device user service
        watch_posts       anonymous device user service
        get_post_rank     anonymous device user service
        cast_vote         anonymous device user service
        batch_cast_votes  anonymous device user service
        mark_posts        .         device user service
        list_feeds        anonymous device user service
        create_feed       .         .      .    service
        get_server_stats  anonymous device user service
        backup            .         .      .    service
        correct_times     .         .      .    service
        unknown           anonymous device user service
        """

    private static func rows() -> [(call: String, roles: [String])] {
        expected.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return (words[0], Array(words.dropFirst()))
        }
    }

    @Test("T-CALL-8: each call is open to the roles of its row and to no other")
    func everyCellIsAsExpected() throws {
        let rows = Self.rows()
        #expect(rows.map(\.call) == Method.allCases.map(\.name))
        for (row, method) in zip(rows, Method.allCases) {
            for (cell, role) in zip(row.roles, Role.allCases) {
                #expect(
                    method.access.admits(role) == (cell == role.rawValue),
                    "\(method.name), \(role)"
                )
            }
        }
    }

    @Test("the fast path of votes, which does not read the table, serves open calls")
    func votesAreOpenToEveryone() {
        for role in Role.allCases {
            #expect(Method.castVote.access.admits(role))
            #expect(Method.batchCastVotes.access.admits(role))
        }
    }

    @Test("docs/PROTOCOL.md has the table")
    func thePageShowsTheTable() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(page.contains(Self.table()), "docs/PROTOCOL.md should have:\n\(Self.table())")
    }

    /// The table as the page shows it.
    private static func table() -> String {
        let roles = Role.allCases.map(\.rawValue)
        let head = [row("Call", roles), "|---|" + roles.map { _ in "---|" }.joined()]
        let rows = Method.allCases.filter { $0 != .unknown }.map { method in
            let access = method.access
            return row(
                "`\(method.name)`",
                Role.allCases.map { access.admits($0) ? "yes" : access.refusal }
            )
        }
        return (head + rows).joined(separator: "\n")
    }

    private static func row(_ call: String, _ cells: [String]) -> String {
        "| \(call) | \(cells.joined(separator: " | ")) |"
    }

    private static var page: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/PROTOCOL.md")
    }
}

extension Access {
    /// The reason that a caller without the role gets, as the page names it.
    fileprivate var refusal: String {
        switch self {
        case .everyone, .viewers, .users: "IDENTITY_REQUIRED"
        case .services: "SERVICE_ONLY"
        }
    }
}
