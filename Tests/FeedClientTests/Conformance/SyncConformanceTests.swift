import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Copies of feeds are the same over a connection and in memory.
@Suite(.timeLimit(.minutes(10))) struct SyncConformanceTests {
    /// A chain of requests, and the copy that it keeps.
    private struct Copy {
        var request: SyncPostsRequest
        var posts: [PostID: Post] = [:]
        var resetCount = 0

        init(_ feed: String = "", marks: MarkPosition? = MarkPosition()) {
            request = SyncPostsRequest(feed: feed, pageSize: 3, marks: marks)
        }

        /// Applies answers until there are no more, as PROTOCOL.md says; returns how many changes came.
        mutating func sync(_ client: some FeedCalling) async throws -> Int {
            var count = 0
            var hasMore = true
            while hasMore {
                let answer = try await client.syncPosts(request)
                request.sinceRevision = answer.nextRevision
                request.copyRevision = answer.copyRevision
                request.instanceID = answer.instanceID
                if answer.isReset { posts = [:] }
                if let marks = answer.marks {
                    request.marks = marks.next
                    count += marks.posts.count + marks.through.count
                    apply(marks)
                }
                for post in answer.posts where post.revision > posts[post.id]?.revision ?? 0 {
                    posts[post.id] = post.isDeleted ? nil : post
                }
                count += answer.posts.count
                hasMore = answer.hasMore
            }
            return count
        }

        private mutating func apply(_ marks: MarkChanges) {
            if marks.isReset {
                resetCount += 1
                for id in posts.keys {
                    posts[id]?.viewer?.isRead = false
                    posts[id]?.viewer?.isDismissed = false
                }
            }
            for mark in marks.through {
                let last = (mark.createTimeMilliseconds, mark.postID)
                for (id, post) in posts
                where (post.createTimeMilliseconds, id) <= last
                    && (mark.feed.isEmpty || mark.feed == post.feed)
                {
                    switch mark.mark {
                    case .read, .unread: posts[id]?.viewer?.isRead = mark.mark == .read
                    default: posts[id]?.viewer?.isDismissed = mark.mark == .dismissed
                    }
                }
            }
            for post in marks.posts {
                posts[post.id]?.viewer?.isRead = post.isRead
                posts[post.id]?.viewer?.isDismissed = post.isDismissed
            }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aCopyIsTheFeed(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            var ids: [PostID] = []
            for number in 0..<7 {
                ids.append(try await client.createPost(PostDraft(title: "\(number)")).id)
            }
            try await client.createPost(PostDraft(text: "other"), in: "tweets")
            var copy = Copy("posts", marks: nil)
            #expect(try await copy.sync(client) == 7)
            #expect(copy.posts[ids[2]] == (try await client.getPost(ids[2])))
            try await client.vote(on: ids[0], .up)
            try await client.deletePost(ids[1])
            #expect(try await copy.sync(client) == 2)
            #expect(copy.posts[ids[0]]?.score == 1)
            #expect(copy.posts[ids[1]] == nil)
            #expect(try await copy.sync(client) == 0)
            var other = copy.request
            other.instanceID += 1
            #expect(try await client.syncPosts(other).isReset)
            other.pageSize = -1
            let wrong = other
            #expect(await refusal { try await client.syncPosts(wrong) } == .badPageSize)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func marksOfAnotherDeviceArrive(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let phone = try await bench.device().acting(for: .ofService(7))
            let tablet = try await bench.device().acting(for: .ofService(7))
            var ids: [PostID] = []
            for number in 0..<9 {
                ids.append(try await phone.createPost(PostDraft(title: "\(number)")).id)
            }
            try await phone.mark([ids[0]], as: .read)
            var copies = [Copy(), Copy("posts")]
            for index in copies.indices { _ = try await copies[index].sync(tablet) }
            func check(_ changeCount: Int, _ line: Int = #line) async throws {
                for index in copies.indices {
                    let count = try await copies[index].sync(tablet)
                    #expect(count == changeCount, "line \(line)")
                    let now = try await tablet.getPosts(ids).posts
                    #expect(ids.compactMap { copies[index].posts[$0] } == now, "line \(line)")
                    #expect(try await copies[index].sync(tablet) == 0)
                }
            }
            try await check(0)
            try await phone.mark(Array(ids[1...5]), as: .read)
            try await check(5)
            try await phone.mark([ids[0], ids[1]], as: .unread)
            try await check(2)
            try await phone.mark(through: ids[6], as: .dismissed)
            try await phone.mark([ids[3]], as: .restored)
            try await check(2)
            try await phone.mark(through: ids[8], as: .read, in: "posts")
            try await phone.mark(through: ids[2], as: .unread, in: "posts")
            try await check(2)
            // A new copy had its posts with their marks, so none came beside them.
            #expect(copies.allSatisfy { $0.resetCount == 0 })
            // A copy that asks for marks later gets all of them.
            var late = Copy(marks: nil)
            _ = try await late.sync(tablet)
            late.request.marks = MarkPosition()
            #expect(try await late.sync(tablet) > 0)
            #expect(late.resetCount == 1)
            #expect(late.posts == copies[0].posts)
            // Another one sees nothing of them.
            let nobody = try await bench.anonymous()
            let request = late.request
            #expect(await refusal { try await nobody.syncPosts(request) } == .identityRequired)
            var other = Copy()
            _ = try await other.sync(try await bench.device())
            #expect(other.posts.values.allSatisfy { $0.viewer == Viewer() })
        }
    }
}
