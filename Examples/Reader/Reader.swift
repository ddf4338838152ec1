import FeedClient
import FeedOffline
import FeedProto
import Foundation

/// A reader of posts for a terminal: lists, scrolls, votes, posts, signs in and dismisses, also without a
/// service.
///
/// It is what an author of a client copies from. The screen shows the copy on the disk (`OfflineFeed`), so
/// it needs no network. Changes go into the outbox, and a sync sends them and brings what is new. A call
/// goes over the network in one place only: where a person signs in or out.
///
///     Reader [HOST:PORT [FOLDER]] [--tls] [--ca FILE]
@main
struct Reader {
    /// The copy and the outbox.
    let feed: OfflineFeed
    /// How calls of their own connect: as the device of the copy.
    let configuration: ClientConfiguration
    let address: String
    /// Where the place in the list is kept for the next launch.
    let placeFile: URL

    static func main() async throws {
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        let address = arguments.address ?? FeedClient.defaultAddress
        let folder = URL(filePath: arguments.folder ?? "reader-data")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        var offline = OfflineConfiguration(
            path: folder.appending(path: "feed.db").path,
            address: address
        )
        offline.client.clientName = "Reader"
        // The session and what others have written cross the network.
        offline.client.tls = arguments.tls
        // The session lasts over launches.
        offline.client.sessionStore = FileSessionStore(
            path: folder.appending(path: "session").path
        )
        let feed = try await OfflineFeed.open(offline)
        if let notice = feed.notice { print(notice) }
        var configuration = offline.client
        configuration.clientID = try await feed.clientID()
        let reader = Reader(
            feed: feed,
            configuration: configuration,
            address: address,
            placeFile: folder.appending(path: "place.json")
        )
        try await reader.run()
        await feed.close()
    }

    /// Shows the list and executes commands, until the input ends.
    func run() async throws {
        var screen = Screen(savedAt: placeFile)
        print(Command.help)
        // The list is on the screen before the service is asked.
        try await screen.show(feed)
        await sync()
        try await screen.show(feed)
        while let line = readLine() {
            do {
                guard let command = Command(line) else {
                    print(Command.help)
                    continue
                }
                if case .quit = command { break }
                try await execute(command, &screen)
            } catch {
                // A call that failed says what it was, and the reader goes on.
                print(error)
            }
        }
        screen.save(to: placeFile)
    }

    private func execute(_ command: Command, _ screen: inout Screen) async throws {
        switch command {
        case .next: screen.turnForward()
        case .previous: screen.turnBack()
        case .order(let order): screen.begin(order)
        case .vote(let row, let direction):
            try await feed.vote(on: screen.post(row).id, direction)
            // The row changes and the others stay where they are, until the list is asked for anew.
            return try await screen.refreshRows(feed)
        case .open(let row):
            let post = try screen.post(row)
            print(Screen.page(of: post))
            try await feed.mark([post.id], as: .read)
            return
        case .dismiss(let row): try await feed.mark([screen.post(row).id], as: .dismissed)
        case .dismissAll:
            let newest = try await feed.posts(PostList(order: .new), limit: 1).posts.first
            if let newest { try await feed.mark(through: newest.id, as: .dismissed) }
        case .post(let title): try await feed.createPost(PostDraft(title: title))
        case .signIn(let email):
            let password = Terminal.readPassword()
            try await connected { client in
                // One form: an address that is new signs up. The service works on passwords when nothing
                // else waits, so a person waits longer than for other calls.
                try await client.signIn(
                    email: email,
                    password: password,
                    createsIfMissing: true,
                    timeout: .seconds(60)
                )
            }
            let count = try await feed.outbox().count { $0.userID == 0 && $0.state == .waiting }
            if count > 0 {
                print("Changes from before you signed in: \(count). To take them along: take")
            }
        case .adopt:
            try await feed.adopt()
            await sync()
        case .signOut: try await connected { try await $0.signOut() }
        case .sync: await sync()
        case .quit: break
        }
        try await screen.show(feed)
    }

    /// Sends the outbox and brings the copy up to date, where the service can be reached.
    private func sync() async {
        do {
            let report = try await feed.sync()
            print("Synced: sent \(report.sentCount), received \(report.changedPostCount).")
            if report.otherUserCount > 0 {
                // A change belongs to who made it: a person, or the device where nobody was signed in.
                print("Changes that wait for another account: \(report.otherUserCount).")
            }
            try await tellOutbox()
        } catch {
            let count = (try? await feed.outbox().count) ?? 0
            print("Offline, changes that wait: \(count). \(error)")
            if (try? await feed.postCount()) == 0 {
                print(
                    """
                    Nothing was copied yet. Start a service, as feed-service --sample-data of the Debian package \
                    feed-service, and type s. One on another machine: Reader HOST:PORT --tls --ca FILE.
                    """
                )
            }
        }
    }

    /// Shows what the service refused, or cannot tell, and lets go of it.
    private func tellOutbox() async throws {
        for entry in try await feed.outbox() {
            switch entry.state {
            case .waiting, .sent: continue
            case .failed(let status): print("Refused: \(status)")
            case .inDoubt(let doubt): print("It may have been done: \(doubt)")
            }
            try await feed.drop(entry.number)
        }
    }

    /// Makes a call over the network.
    ///
    /// A session that begins or ends is that of all later syncs.
    private func connected(_ call: (FeedClient) async throws -> Void) async throws {
        let client = try FeedClient(to: address, configuration: configuration)
        do {
            try await call(client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }
}
