internal import ArgumentParser
package import FeedOffline
package import FeedProto

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Sends the changes that wait, and brings the copy for feed --offline up to date.",
        discussion: """
            Each change is counted exactly once. Where the service cannot tell whether it has one, the \
            change stays in the outbox, in doubt; feedctl outbox shows it.
            """
    )

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let report = try await options.withOffline(connects: true) { feed in
            do {
                return SyncedReport(try await feed.sync())
            } catch OfflineError.service(let error) {
                throw OfflineError.service(
                    error.naming(target: try options.target.settings().address)
                )
            }
        }
        try report.print(asJSON: options.json)
    }
}

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Shows the changes that feedctl sync has to send, or could not.",
        discussion: """
            A change is sent as the account that had signed in when it was made, and as no other; without \
            one it is the device's. --resend makes it one of the account that has signed in now, --adopt all \
            that wait as the device's. A change that failed had no effect. One in doubt may have been executed: sent again, it may count twice.
            """
    )

    @Option(help: ArgumentHelp("Forget this entry.", valueName: "entry"))
    var drop: [UInt64] = []

    @Option(
        help: ArgumentHelp(
            "Let the next sync send this entry, which failed, is in doubt or is another account's.",
            valueName: "entry"
        )
    )
    var resend: [UInt64] = []

    @Flag(
        help: "Make the waiting changes of nobody those of the account that has signed in."
    )
    var adopt = false

    @OptionGroup var options: PersonOptions

    func run() async throws {
        let report = try await options.withOffline { feed in
            if adopt { try await feed.adopt() }
            for entry in drop { try await feed.drop(entry) }
            for entry in resend { try await feed.resend(entry) }
            return OutboxReport(try await feed.outbox(), for: await feed.userID)
        }
        try report.print(asJSON: options.json)
    }
}

package struct SyncedReport: Report {
    private let report: SyncReport

    package init(_ report: SyncReport) { self.report = report }

    package var document: Document {
        [
            "sent_count": report.sentCount, "failed_count": report.failedCount,
            "in_doubt_count": report.inDoubtCount, "waiting_count": report.leftCount,
            // Those among them that wait for another account than the one that has signed in.
            "other_user_count": report.otherUserCount,
            "changed_post_count": report.changedPostCount,
            "removed_post_count": report.removedPostCount,
            // Whether the copy was begun anew, as the first one is.
            "is_new_copy": report.isReset,
        ]
    }

    /// Not if the service has refused a change, or cannot tell whether it has one.
    package var isDone: Bool { report.failedCount + report.inDoubtCount == 0 }

    /// A line for the outbox and one for the copy.
    package func text(_ style: TextStyle) -> String {
        let otherUserCount = report.otherUserCount
        var outbox = "Outbox: \(report.sentCount) sent, \(report.leftCount) waiting"
        if otherUserCount > 0 { outbox += ", \(otherUserCount) of them for another account" }
        if report.failedCount > 0 { outbox += ", \(report.failedCount) refused" }
        if report.inDoubtCount > 0 { outbox += ", \(report.inDoubtCount) in doubt" }
        if !isDone || otherUserCount > 0 { outbox += " (feedctl outbox)" }
        let copy = report.isReset ? "New copy" : "Copy"
        return outbox + ".\n"
            + "\(copy): \(report.changedPostCount) posts changed, \(report.removedPostCount) removed.\n"
    }
}

package struct OutboxReport: Report {
    private struct Row {
        let entry: OutboxEntry
        /// `waiting`, `sent`, `failed` or `in doubt`.
        let state: String
        /// For whom it waits, or why it failed or is in doubt; else empty.
        let reason: String
    }

    private let rows: [Row]

    /// The report of an outbox, to the account that has signed in; 0 is nobody.
    package init(_ entries: [OutboxEntry], for userID: UserID) {
        rows = entries.map { entry in
            let person = entry.userID == userID ? "" : Self.condition(entry.userID)
            let (state, reason) =
                switch entry.state {
                case .waiting: ("waiting", person)
                case .sent: ("sent", person)
                case .failed(let status): ("failed", status.description)
                case .inDoubt(let doubt): ("in doubt", doubt.description)
                }
            return Row(entry: entry, state: state, reason: reason)
        }
    }

    private static func condition(_ userID: UserID) -> String {
        userID == 0
            ? "It is sent once nobody is signed in." : "It is sent once account \(userID) signs in."
    }

    package var document: Document { ["entries": rows.map(Self.member)] }

    private static func member(_ row: Row) -> Document {
        [
            "entry": row.entry.number, "state": row.state, "change": row.entry.request.summary,
            // The account as which it was made; 0 is the device, with nobody signed in.
            "user_id": row.entry.userID, "reason": row.reason,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        guard !rows.isEmpty else { return "The outbox is empty.\n" }
        let columns: [TextColumn<Row>] = [
            .number("ENTRY") { "\($0.entry.number)" }, .text("STATE") { $0.state },
            .text("CHANGE") { $0.entry.request.summary }, .text("REASON") { $0.reason },
        ]
        return TextTable(rows, columns).rendered(style)
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
                + (creation.post?.name ?? "")
        case .updatePost(let update): "edit of \(update.post?.id ?? 0)"
        case .deletePost(let deletion): "deletion of \(deletion.id)"
        case .markPosts(let marks): "mark \(marks.mark.argument)"
        default: "change"
        }
    }
}
