import FeedService
import FeedTestSupport
import Foundation
import Testing

/// The authorisation table, cell by cell, and its copy in docs/PROTOCOL.md.
@Suite
struct AccessTableTests {
    /// A role for each column; a dot where the role may not make the call.
    private static let expected = """
        hello             anonymous device user reader service operator local
        ping              anonymous device user reader service operator local
        cancel            anonymous device user reader service operator local
        sign_up           anonymous device user .      service .        local
        sign_in           anonymous device user .      service .        local
        get_session       .         .      user .      service .        local
        sign_out          .         .      user .      service .        local
        create_post       anonymous device user .      service .        local
        import_posts      .         .      .    .      service .        local
        get_post          anonymous device user reader service .        local
        batch_get_posts   anonymous device user reader service .        local
        list_posts        anonymous device user reader service .        local
        update_post       .         .      user .      service .        local
        delete_post       .         .      user .      service .        local
        sync_posts        anonymous device user reader service .        local
        watch_posts       anonymous device user reader service .        local
        get_post_rank     anonymous device user reader service .        local
        cast_vote         anonymous device user .      service .        local
        batch_cast_votes  anonymous device user .      service .        local
        mark_posts        .         device user .      service .        local
        list_feeds        anonymous device user reader service .        local
        create_feed       .         .      .    .      service .        local
        get_server_stats  anonymous device user reader service operator local
        backup            .         .      .    .      .       operator local
        correct_times     .         .      .    .      service .        local
        delete_posts      .         .      .    .      service operator local
        drain             .         .      .    .      .       operator local
        set_log_level     .         .      .    .      .       operator local
        unknown           anonymous device user reader service operator local
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

    @Test("the fast path of votes, which asks for single votes, may serve batches, too")
    func votesAndBatchesAreOpenToTheSameRoles() {
        for role in Role.allCases {
            #expect(
                Method.castVote.access.admits(role) == Method.batchCastVotes.access.admits(role)
            )
        }
    }

    @Test(
        "each role of a key is a role of the table, but an app's, which is that of a keyless caller"
    )
    func keysHaveRolesOfTheTable() {
        for role in KeyRole.allCases where role != .app {
            #expect(Role(rawValue: role.rawValue) != nil, "\(role)")
        }
        #expect(Role(rawValue: KeyRole.app.rawValue) == nil)
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
                Role.allCases.map { access.admits($0) ? "yes" : access.refusal(of: $0) }
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
    /// The reason that a caller of another role gets, as the page names it.
    fileprivate func refusal(of role: Role) -> String {
        switch (role, self) {
        case (.reader, _), (.service, _), (.operator, _), (_, .operators),
            (_, .servicesAndOperators):
            "ROLE_DENIED"
        case (_, .services): "SERVICE_ONLY"
        default: "IDENTITY_REQUIRED"
        }
    }
}
