import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Two devices of one person, which vote, mark, write, edit and delete with and without a network, are
/// killed, and sign in and out: what becomes of it beside a model.
///
/// `FEED_OFFLINE_HISTORIES` says how many histories there are.
@Suite(.timeLimit(.minutes(60))) struct HistoryTests {
    private static let count = TestEnvironment.number("FEED_OFFLINE_HISTORIES") ?? 24
    /// So many share a service: a person may have 16,384 marks.
    private static let blockCount = 50

    @Test func noChangeIsLostOrDoubledAndCopiesAreTheServices() async throws {
        let seeds = TestEnvironment.seeds(1...UInt64(Self.count))
        var executedCount = 0
        var refusedCount = 0
        for first in stride(from: 0, to: seeds.count, by: Self.blockCount) {
            try await Person.run { person in
                for seed in seeds[first..<min(first + Self.blockCount, seeds.count)] {
                    let audit = try await History(seed, person, nil).run()
                    #expect(audit.problems == [], "FEED_SEED=\(seed)")
                    executedCount += audit.executedCount
                    refusedCount += audit.refusedCount
                }
            }
        }
        print(
            "\(seeds.count) histories: \(executedCount) changes executed, \(refusedCount) refused."
        )
        #expect(executedCount >= 5 * seeds.count)
    }

    @Test(arguments: HistoryFault.allCases)
    func theAuditReportsAFault(_ fault: HistoryFault) async throws {
        try await Person.run { person in
            var problems: [String] = []
            for seed in UInt64(1)...10 where problems.isEmpty {
                problems = try await History(seed, person, fault).run().problems
            }
            #expect(!problems.isEmpty, "\(fault)")
        }
    }
}

/// What is wrong on purpose.
enum HistoryFault: CaseIterable, Sendable {
    /// A change whose answer is lost is sent again without its sequence.
    case doubled
    /// An entry leaves the outbox before it is sent.
    case lost
    /// A copy does not hear of deletions.
    case undeleted
}

/// An account with a session for each of two devices.
struct Person {
    let service: TestService
    let sessions: [StoredSession]

    static func run(_ body: (Person) async throws -> Void) async throws {
        try await TestService.run { service in
            var sessions: [StoredSession] = []
            for _ in 0..<2 {
                try await service.withClient { client async throws in
                    let session = try await client.signIn(
                        email: "ann@example.org",
                        password: "secret",
                        createsIfMissing: true
                    )
                    let token = try #require(session.secret)
                    let user = try #require(session.user)
                    sessions.append(StoredSession(token: token, userID: user.id))
                }
            }
            try await body(Person(service: service, sessions: sessions))
        }
    }
}

struct HistoryAudit {
    var problems: [String] = []
    var executedCount = 0
    var refusedCount = 0
}

/// One history: some 60 steps, then a network for all, and the audit.
private final class History {
    /// A change that a device has made.
    private struct Change {
        let device: Int
        let entry: OutboxEntry
        /// The title of its post, which no other post has.
        let title: String
        var isOfPerson: Bool
    }

    private let seed: UInt64
    private let person: Person
    private let fault: HistoryFault?
    private let keeps: KeptPosts
    private let feeds: [String]
    private var random: SeededGenerator
    private var devices: [HistoryDevice] = []
    private var changes: [Change] = []
    private var deletedTitles: Set<String> = []
    /// Drafts that were deleted before they were sent, with all that was made of them.
    private var forgottenTitles: Set<String> = []
    private var markedThroughFeeds: Set<String> = []
    private var postCount = 0
    private var textCount = 0
    private var audit = HistoryAudit()

    init(_ seed: UInt64, _ person: Person, _ fault: HistoryFault?) {
        self.seed = seed
        self.person = person
        self.fault = fault
        let name = fault.map { "\($0)" } ?? "h"
        feeds = ["ballot-\(name)-\(seed)", "tally-\(name)-\(seed)"]
        keeps = seed.isMultiple(of: 2) ? .newest(6) : .all
        random = SeededGenerator(seed: seed)
    }

    func run() async throws -> HistoryAudit {
        try await person.service.withClient { client async throws in
            for (feed, mode) in zip(feeds, [VoteMode.ballot, .tally]) {
                try await client.createFeed(Feed(name: feed, voteMode: mode))
                for _ in 0..<3 {
                    _ = try await client.createPost(PostDraft(title: nextTitle()), in: feed)
                }
            }
        }
        for number in 0..<2 {
            let device = HistoryDevice(number, seed, person, feeds, keeps, fault)
            try await device.open()
            devices.append(device)
            try await device.sync()
            // A channel on which nothing was executed cannot be told from a new one.
            try await create(device)
            try await device.sync()
        }
        for _ in 0..<60 { try await step() }
        try await settle()
        try await judge()
        for device in devices { await device.close() }
        return audit
    }

    private func nextTitle() -> String {
        postCount += 1
        return "post \(postCount)"
    }

    private func step() async throws {
        let device = devices[Int.random(in: 0..<2, using: &random)]
        switch Int.random(in: 0..<24, using: &random) {
        case 0: device.network.withLock { $0 = .off }
        case 1: device.network.withLock { $0 = .lossy }
        case 2: device.network.withLock { $0 = .on }
        case 3..<7: try await device.sync()
        case 7: try await device.kill()
        case 8: try await toggleSession(device)
        case 9: try await create(device)
        default: try await change(device)
        }
    }

    private func toggleSession(_ device: HistoryDevice) async throws {
        device.toggleSession()
        guard device.isSignedIn, random.oneIn(2) else { return }
        let waiting = try await device.outbox().filter { $0.state == .waiting && $0.userID == 0 }
        guard try await device.feed.adopt() == waiting.count else {
            return audit.problems.append("Not all entries were adopted.")
        }
        let numbers = Set(waiting.map(\.number))
        for place in changes.indices
        where changes[place].device == device.number
            && numbers.contains(changes[place].entry.number)
        {
            changes[place].isOfPerson = true
        }
    }

    private func create(_ device: HistoryDevice) async throws {
        let title = nextTitle()
        let feed = feeds.randomElement(using: &random) ?? ""
        note(try await device.feed.createPost(PostDraft(title: title), in: feed), title, device)
    }

    private func note(_ entry: OutboxEntry, _ title: String, _ device: HistoryDevice) {
        let isOfPerson = entry.userID != 0
        changes.append(
            Change(device: device.number, entry: entry, title: title, isOfPerson: isOfPerson)
        )
    }

    private func change(_ device: HistoryDevice) async throws {
        let name = feeds.randomElement(using: &random) ?? ""
        let list = PostList(feed: name, order: .new, includesDismissed: true)
        guard let post = try await device.feed.posts(list).posts.randomElement(using: &random)
        else { return }
        let feed = device.feed
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6:
            let direction: VoteDirection = random.oneIn(3) ? .down : .up
            note(try await feed.vote(on: post.id, direction), post.title, device)
        case 6, 7:
            textCount += 1
            let text = "text \(textCount)"
            let entry = try await feed.editPost(post) { $0.text = text }
            if let entry { note(entry, post.title, device) }
        case 8, 9:
            let mark = [Mark.read, .unread, .dismissed, .restored].randomElement(using: &random)
            note(try await feed.mark([post.id], as: mark ?? .read), post.title, device)
        case 10:
            markedThroughFeeds.insert(name)
            let entry = try await feed.mark(through: post.id, as: .read, in: name)
            note(entry, post.title, device)
        default:
            let entry = try await feed.deletePost(post.id)
            let isDone = try await !device.outbox().contains { $0.number == entry.number }
            if isDone {
                forgottenTitles.insert(post.title)
            } else {
                note(entry, post.title, device)
            }
            deletedTitles.insert(post.title)
        }
    }

    /// Gives both devices a network until neither has anything to send, as the device and as the person.
    private func settle() async throws {
        for device in devices {
            device.network.withLock { $0 = .on }
            if try await device.outbox().contains(where: { $0.userID == 0 }) {
                if device.isSignedIn { device.toggleSession() }
                try await device.sync()
            }
            if !device.isSignedIn { device.toggleSession() }
            try await device.sync()
        }
        // The first one has not seen what the second one has sent.
        for device in devices {
            try await device.sync()
            for entry in try await device.outbox() { judge(entry, of: device) }
        }
    }

    /// Judges an entry that was not executed.
    private func judge(_ entry: OutboxEntry, of device: HistoryDevice) {
        let place = changes.firstIndex {
            $0.device == device.number && $0.entry.number == entry.number
        }
        guard let place else { return audit.problems.append("Nobody made \(entry).") }
        let change = changes.remove(at: place)
        audit.refusedCount += 1
        guard case .failed(let status) = entry.state else {
            return audit.problems.append("\(change.title): \(entry.state)")
        }
        let isExpected =
            switch status.reason {
            case .postNotFound: deletedTitles.contains(change.title)
            case .revisionMismatch: isEditedElsewhere(change)
            default: false
            }
        if !isExpected { audit.problems.append("\(change.title): \(status)") }
    }

    /// Whether somebody else than the change's device and account has edited its post.
    private func isEditedElsewhere(_ change: Change) -> Bool {
        changes.contains { other in
            guard case .updatePost = other.entry.request, other.title == change.title else {
                return false
            }
            return other.device != change.device || other.isOfPerson != change.isOfPerson
                || other.entry.userID != change.entry.userID
        }
    }

    /// Compares the service with the model, and the copies with the service.
    private func judge() async throws {
        audit.executedCount = changes.count
        try await person.service.withClient {
            $0.sessionToken = person.sessions[0].token
        } _: { client async throws in
            for name in feeds {
                let list = PostList(feed: name, order: .new, includesDismissed: true)
                var posts: [Post] = []
                for try await post in client.posts(list) { posts.append(post) }
                judge(posts, of: name)
                for device in devices {
                    for order in [Order.new, .top, .hot] {
                        var list = list
                        list.order = order
                        let served = try await client.listPosts(list, pageSize: 100).posts
                        let copied = try await device.feed.allPosts(list, limit: 100)
                        let count = keeps == .all ? max(served.count, copied.count) : 3
                        if copied.prefix(count) != served.prefix(count) {
                            audit.problems.append(
                                "Device \(device.number), \(name), \(order): "
                                    + "\(copied.prefix(count)) is not \(served.prefix(count))"
                            )
                        }
                    }
                }
            }
        }
    }

    private func judge(_ posts: [Post], of feed: String) {
        let titles = posts.map(\.title)
        if Set(titles).count != titles.count { audit.problems.append("A post came twice.") }
        for change in changes {
            guard case .createPost(let creation) = change.entry.request, creation.feed == feed,
                !deletedTitles.contains(change.title), !titles.contains(change.title)
            else { continue }
            audit.problems.append("\(change.title) is lost.")
        }
        for post in posts { judge(post, isBallot: feed == feeds[0]) }
    }

    private func judge(_ post: Post, isBallot: Bool) {
        let made = changes.filter { $0.title == post.title }
        if forgottenTitles.contains(post.title) || deletedTitles.contains(post.title) {
            audit.problems.append("\(post.title) was deleted.")
        }
        if isBallot { judgeBallots(post, made) } else { judgeTally(post, made) }
        let texts = made.compactMap { change in
            if case .updatePost(let edit) = change.entry.request { edit.post?.text } else { nil }
        }
        if texts.isEmpty ? post.text != "" : !texts.contains(post.text) {
            audit.problems.append("\(post.title) has the text \(post.text), of \(texts)")
        }
        judgeMarks(post, made)
    }

    private static func direction(_ change: Change) -> VoteDirection? {
        if case .castVote(let vote) = change.entry.request { vote.direction } else { nil }
    }

    private func judgeTally(_ post: Post, _ made: [Change]) {
        let votes = made.compactMap(Self.direction)
        let counts = (votes.count { $0 == .up }, votes.count { $0 == .down })
        if (Int(post.upvoteCount), Int(post.downvoteCount)) != counts {
            audit.problems.append("\(post.title) has other votes than \(counts): \(post)")
        }
    }

    /// The last ballot of each device counts, and one of the last ones of the person.
    private func judgeBallots(_ post: Post, _ made: [Change]) {
        var ballots = [post.viewer?.vote ?? .unspecified]
        let persons = made.filter(\.isOfPerson)
        let possible = (0..<2).compactMap { device in
            persons.last { $0.device == device && Self.direction($0) != nil }
        }
        // An entry that was adopted may have left after a later one.
        let directions = Set(
            (hasAdopted(persons) ? persons : possible).compactMap(Self.direction)
        )
        if directions.isEmpty ? ballots[0] != .unspecified : !directions.contains(ballots[0]) {
            audit.problems.append("\(post.title) has the ballot \(ballots[0]) of \(directions)")
        }
        for device in 0..<2 {
            let own = made.filter { $0.device == device && !$0.isOfPerson }
            ballots.append(own.compactMap(Self.direction).last ?? .unspecified)
        }
        let counts = (ballots.count { $0 == .up }, ballots.count { $0 == .down })
        if (Int(post.upvoteCount), Int(post.downvoteCount)) != counts {
            audit.problems.append("\(post.title) has other ballots than \(ballots): \(post)")
        }
    }

    private func hasAdopted(_ persons: [Change]) -> Bool {
        persons.contains { $0.entry.userID == 0 }
    }

    /// The last mark of the only device that has marked a post stands.
    private func judgeMarks(_ post: Post, _ made: [Change]) {
        guard !markedThroughFeeds.contains(post.feed) else { return }
        let persons = made.filter(\.isOfPerson)
        let marks = persons.compactMap { change -> Mark? in
            if case .markPosts(let marks) = change.entry.request { marks.mark } else { nil }
        }
        let devices = Set(
            persons.lazy.filter {
                if case .markPosts = $0.entry.request { true } else { false }
            }.map(\.device)
        )
        guard devices.count < 2, !hasAdopted(persons) else { return }
        let isRead = marks.last { $0 == .read || $0 == .unread } == .read
        let isDismissed = marks.last { $0 == .dismissed || $0 == .restored } == .dismissed
        let viewer = post.viewer ?? Viewer()
        if viewer.isRead != isRead || viewer.isDismissed != isDismissed {
            audit.problems.append("\(post.title) has the marks \(viewer) after \(marks)")
        }
    }
}
