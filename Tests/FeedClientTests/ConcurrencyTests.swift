import FeedClient
import FeedProto
import FeedTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct ClientConcurrencyTests {
    @Test func tenThousandVotesOfAsManyTasksCountOnceEach() async throws {
        let count = 10_000
        try await withClient(threads: 2) { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
            let scores = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await client.vote(on: post.id, .up, timeout: .seconds(60)).score
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(scores == Set(1...Int64(count)))
            #expect(try await client.getPost(post.id).upvoteCount == UInt64(count))
        }
    }

    /// A script that holds 32 calls back and then answers them in any order.
    ///
    /// With 64 in flight that many at a time leave nobody waiting.
    static func shuffling(seed: UInt64) -> ScriptedService.Script {
        let state = Locked((generator: SeededGenerator(seed: seed), held: [ClientFrame]()))
        return { frame in
            state.withLock { state in
                state.held.append(frame)
                guard state.held.count == 32 else { return [] }
                state.held.shuffle(using: &state.generator)
                defer { state.held = [] }
                return state.held.map(voteAnswer)
            }
        }
    }

    @Test("answers in any order reach their tasks", arguments: TestEnvironment.seeds(1...3))
    func matchesShuffledAnswers(seed: UInt64) async throws {
        try await withScript(inFlight: 64, Self.shuffling(seed: seed)) { client, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in (1...2_048).map(PostID.init(rawValue:)) {
                    group.addTask {
                        let counts = try await client.vote(on: id, .up, timeout: .seconds(60))
                        #expect(counts.postID == id, "seed \(seed)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("calls cancelled in flight disturb no others", arguments: TestEnvironment.seeds(1...3))
    func cancelsAmongOthers(seed: UInt64) async throws {
        let tasks = Locked<[Task<FeedClientError?, Never>]>([])
        let shuffle = Self.shuffling(seed: seed)
        let script: ScriptedService.Script = { frame in
            if case .castVote(let vote) = frame.request, vote.postID.rawValue.isMultiple(of: 2) {
                tasks.withLock { $0[Int(vote.postID.rawValue) - 1].cancel() }
            }
            return shuffle(frame)
        }
        try await withScript(inFlight: 64, script) { client, _ in
            let all = tasks.withLock { tasks in
                // No frame is looked at before every task is known.
                tasks = (1...2_048).map(PostID.init(rawValue:)).map { id in
                    Task {
                        await failure {
                            let counts = try await client.vote(on: id, .up, timeout: .seconds(60))
                            #expect(counts.postID == id, "seed \(seed)")
                        }
                    }
                }
                return tasks
            }
            var cancelled = 0
            for (index, task) in all.enumerated() {
                guard let error = await task.value else { continue }
                #expect(error == .cancelled(effect: .unknown), "seed \(seed)")
                #expect(index % 2 == 1, "seed \(seed)")
                cancelled += 1
            }
            #expect(cancelled > 0, "seed \(seed)")
        }
    }

    @Test("more bytes than may wait unsent leave one after another")
    func sendsMoreThanFits() async throws {
        let count = 100
        try await withClient { client in
            let text = String(repeating: "x", count: 10_000)
            let posts = (0..<20).map { _ in Post(text: text) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await client.importPosts(posts, timeout: .seconds(60)).count
                    }
                }
                let imported = try await group.reduce(0, +)
                #expect(imported == count * posts.count)
            }
            #expect(try await client.stats().postCount == UInt64(count * posts.count))
        }
    }

    @Test("cancelling at any moment ends each call once", arguments: TestEnvironment.seeds(1...3))
    func survivesCancellations(seed: UInt64) async throws {
        try await withClient { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
            let generator = Locked(SeededGenerator(seed: seed))
            let outcomes = await withTaskGroup(of: FeedClientError?.self) { group in
                for _ in 0..<2_000 {
                    let task = Task {
                        await failure {
                            try await client.vote(on: post.id, .up, timeout: .seconds(60))
                        }
                    }
                    let patience = generator.withLock { Int.random(in: 0...40, using: &$0) }
                    group.addTask {
                        // Some are cancelled before they begin, some in flight, some too late.
                        if patience < 20 {
                            for _ in 0..<patience { await Task.yield() }
                            task.cancel()
                        }
                        return await task.value
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let counted = try await client.getPost(post.id).upvoteCount
            let acknowledged = outcomes.count { $0 == nil }
            let inDoubt = outcomes.count { $0 == .cancelled(effect: .unknown) }
            let notSent = outcomes.count { $0 == .cancelled(effect: .none) }
            #expect(acknowledged + inDoubt + notSent == 2_000, "seed \(seed)")
            #expect(counted >= acknowledged && counted <= acknowledged + inDoubt, "seed \(seed)")
        }
    }
}

/// Tasks on the thread of a client.
@Suite(.timeLimit(.minutes(10))) struct ExecutorConcurrencyTests {
    @Test func callsKeepTasksOnOneThread() async throws {
        try await withClient(threads: 1) { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
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
            let post = try await client.createPost(PostDraft(title: "Apple"))
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
