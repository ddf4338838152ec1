package import FeedOffline
internal import FeedProto

/// The changes that wait, failed or are in doubt, as `outbox` reports them.
package struct OutboxReport: Report, Equatable {
    /// One change.
    struct Row: Encodable, Equatable, Sendable {
        let entry: UInt64
        /// `waiting`, `sent`, `failed` or `in doubt`.
        let state: String
        /// What the change does.
        let change: String
        /// The account as which it was made; 0 is the device, with nobody signed in.
        let userID: UInt64
        /// For whom it waits, or why it failed or is in doubt; else empty.
        let reason: String

        private enum CodingKeys: String, CodingKey {
            case entry, state, change
            case userID = "userId"
            case reason
        }
    }

    let entries: [Row]

    /// The report of an outbox, to the account that has signed in; 0 is nobody.
    package init(_ entries: [OutboxEntry], for userID: UInt64) {
        self.entries = entries.map { entry in
            let person = entry.userID == userID ? "" : Self.condition(entry.userID)
            let (state, reason) =
                switch entry.state {
                case .waiting: ("waiting", person)
                case .sent: ("sent", person)
                case .failed(let status): ("failed", status.description)
                case .inDoubt(let doubt): ("in doubt", doubt.description)
                }
            return Row(
                entry: entry.number,
                state: state,
                change: entry.request.summary,
                userID: entry.userID,
                reason: reason
            )
        }
    }

    private static func condition(_ userID: UInt64) -> String {
        userID == 0
            ? "It is sent once nobody is signed in." : "It is sent once account \(userID) signs in."
    }

    /// A table, or a line where there are none.
    package func text(_ style: TextStyle) -> String {
        guard !entries.isEmpty else { return "The outbox is empty.\n" }
        var table = TextTable([
            .number("ENTRY"), .text("STATE"), .text("CHANGE"), .text("REASON"),
        ])
        for row in entries { table.append(["\(row.entry)", row.state, row.change, row.reason]) }
        return table.rendered(style)
    }
}

extension Request {
    /// A change in a few words.
    fileprivate var summary: String {
        switch self {
        case .castVote(let vote):
            "vote \(vote.direction.argument) on \(vote.postID)"
        case .createPost(let creation):
            "post in \(creation.feed): "
                + (creation.post.map { $0.title.isEmpty ? $0.text : $0.title } ?? "")
        case .updatePost(let update): "edit of \(update.post?.id ?? 0)"
        case .deletePost(let deletion): "deletion of \(deletion.id)"
        case .markPosts(let marks): "mark \(marks.mark.argument)"
        default: "change"
        }
    }
}
