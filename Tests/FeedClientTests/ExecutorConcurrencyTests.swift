import FeedClient
import FeedProto
import FeedTestSupport
import Glibc
import Testing

/// Tasks on the thread of a client.
@Suite(.timeLimit(.minutes(10)))
struct ExecutorConcurrencyTests {
    @Test func callsKeepTasksOnOneThread() async throws {
        try await withClient(threads: 1) { client in
            let post = try await client.createPost(Post(title: "Apple"))
            let threads = try await withThrowingTaskGroup(of: Set<UInt>.self) { group in
                for _ in 0..<200 {
                    group.addTask(executorPreference: client.executor) {
                        let before = pthread_self()
                        try await client.vote(on: post.id, .up)
                        let between = pthread_self()
                        _ = try await client.getPost(post.id)
                        return [before, between, pthread_self()]
                    }
                }
                return try await group.reduce(into: Set()) { $0.formUnion($1) }
            }
            #expect(threads.count == 1)
            #expect(try await client.getPost(post.id).upvoteCount == 200)
        }
    }

    @Test func tasksGoOnWhenTheirClientIsClosed() async throws {
        try await withClient(threads: 1) { client in
            let post = try await client.createPost(Post(title: "Apple"))
            let errors = await withTaskGroup(of: FeedClientError?.self) { group in
                for place in 0..<200 {
                    group.addTask(executorPreference: client.executor) {
                        if place == 100 { await client.close() }
                        return await failure {
                            while true { try await client.vote(on: post.id, .up) }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors == Array(repeating: .closed, count: 200))
        }
    }

    @Test func tasksBeginAfterTheirClientWasClosed() async throws {
        try await withClient(threads: 1) { client in
            await client.close()
            let error = await Task(executorPreference: client.executor) {
                await failure { try await client.vote(on: 1, .up) }
            }.value
            #expect(error == .closed)
        }
    }
}
