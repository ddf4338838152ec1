package import FeedProto

extension FeedClient {
    /// Creates posts in order, a call each, and waits until all calls have ended.
    ///
    /// One task waits for all of them, which costs less than a task for each call.
    ///
    /// - Parameters:
    ///   - posts: The posts to create.
    ///   - feed: The feed; empty is the feed `posts`.
    /// - Returns: The result of each call, in the order of the posts.
    package func createPosts(
        _ posts: [Post],
        in feed: String
    ) async -> [Result<Post, FeedClientError>] {
        let requests = posts.map { Request.createPost(CreatePostRequest(feed: feed, post: $0)) }
        return zip(requests, await call(all: requests)).map { request, result in
            result.flatMap { answer in
                guard case .post(let post) = answer.response else {
                    return .failure(.wrongAnswer(to: request))
                }
                return .success(post)
            }
        }
    }

    /// Makes calls in order, at most `depth` at a time, and takes their results in the same order.
    ///
    /// The first call that fails ends the making of calls. The results of the calls in flight are
    /// still taken, and then the failure is thrown.
    ///
    /// - Parameters:
    ///   - depth: The most calls in flight.
    ///   - next: The next call to make; nil is the end.
    ///   - call: Makes one call. It leaves before the next one, up to its first suspension.
    ///   - take: Takes the result of one call.
    /// - Throws: What `next` or `take` throws, or the error of the first failed call.
    package static func pipeline<Item: Sendable, Value: Sendable>(
        depth: Int,
        next: () throws -> Item?,
        call: @escaping @Sendable (Item) async throws -> Value,
        take: (Value) throws -> Void
    ) async throws {
        let failure: (any Error)? = await withTaskGroup(
            of: (number: Int, result: Result<Value, any Error>).self
        ) { group in
            var results: [Int: Result<Value, any Error>] = [:]
            var madeCount = 0
            var takenCount = 0
            var isAtEnd = false
            var failure: (any Error)?
            while true {
                while failure == nil, !isAtEnd, madeCount - takenCount < depth {
                    do {
                        guard let item = try next() else {
                            isAtEnd = true
                            break
                        }
                        let number = madeCount
                        // An immediate task runs here until it waits, so calls leave in order.
                        group.addImmediateTask { (number, await Self.result(of: item, call)) }
                        madeCount += 1
                    } catch {
                        failure = error
                    }
                }
                guard let ended = await group.next() else { return failure }
                results[ended.number] = ended.result
                while let result = results.removeValue(forKey: takenCount) {
                    takenCount += 1
                    do {
                        try take(result.get())
                    } catch {
                        failure = failure ?? error
                    }
                }
            }
        }
        if let failure { throw failure }
    }

    private static func result<Item, Value>(
        of item: Item,
        _ call: (Item) async throws -> Value
    ) async -> Result<Value, any Error> {
        do {
            return .success(try await call(item))
        } catch {
            return .failure(error)
        }
    }
}
