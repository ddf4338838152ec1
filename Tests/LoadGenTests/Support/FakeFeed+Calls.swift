import FeedProto

extension FakeFeed {
    /// Answers a call that is no vote; `ids` are what it made.
    func answer(
        _ request: FeedProto.Request,
        _ id: UInt64,
        _ state: inout State,
        _ ids: inout [UInt64]
    ) -> Action {
        switch request {
        case .hello(let hello):
            state.serviceKeys.insert(hello.serviceKey)
            // The load comes after its posts.
            if faults.greetsWithPing, !state.posts.isEmpty {
                return .answer(frame(id, .ping(PingResponse(payload: [], serving: .serving))))
            }
            let answer = answerHello(hello, &state)
            let key = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
            return state.unansweredHellos.contains(key) ? .lose : .answer(frame(id, .hello(answer)))
        case .listFeeds:
            let feeds = state.feeds.map { Feed(name: $0, voteMode: voteMode) }
            return .answer(frame(id, .listFeeds(ListFeedsResponse(feeds: feeds))))
        case .createFeed(let create):
            guard let feed = create.feed else { return notFound(id) }
            guard !faults.refusesFeeds else {
                return .answer(
                    Self.failure(id, .permissionDenied, .serviceOnly, isNotExecuted: true)
                )
            }
            guard !state.feeds.contains(feed.name) else {
                return .answer(
                    Self.failure(id, .alreadyExists, .feedExists, isNotExecuted: true)
                )
            }
            state.feeds.append(feed.name)
            ids = [UInt64(state.feeds.count)]
            return .answer(frame(id, .feed(feed)))
        case .createPost(let create):
            guard var post = create.post else { return notFound(id) }
            if let refusal = faults.refusal {
                let status = Status(
                    code: .invalidArgument,
                    reason: Reason(rawValue: refusal),
                    message: refusal,
                    isNotExecuted: true
                )
                return .answer(ServerFrame(id: id, revision: 0, status: status))
            }
            post.createTimeMilliseconds = Self.startMilliseconds
            ids = [make(post, in: create.feed, &state)]
            return isFatal(&state) ?? .answer(frame(id, .post(state.posts[ids[0]] ?? post)))
        case .importPosts(let posts):
            ids = posts.posts.map { make($0, in: posts.feed, &state) }
            let response = ImportPostsResponse(ids: ids)
            return isFatal(&state) ?? .answer(frame(id, .importPosts(response)))
        case .deletePost(let delete):
            if state.posts.removeValue(forKey: delete.id) != nil {
                state.deletedIDs.insert(delete.id)
            }
            return .answer(frame(id, .empty))
        case .getPost(let get):
            guard let post = state.posts[get.id] else { return notFound(id) }
            return .answer(frame(id, .post(post)))
        case .batchGetPosts(let batch):
            let response = BatchGetPostsResponse(
                posts: batch.ids.compactMap { state.posts[$0] }.map(told),
                missingIDs: batch.ids.filter { state.posts[$0] == nil }
            )
            return .answer(frame(id, .batchGetPosts(response)))
        case .listPosts(let list):
            var page = Self.page(list, state)
            if let count = faults.staleCount { state.stale.serve(&page, count) }
            if faults.repeatsPages { page.nextPageToken = [0, 0, 0, 0] }
            if faults.makesUpPosts { Self.makeUpPosts(list, &page) }
            return .answer(frame(id, .listPosts(page)))
        default:
            return .answer(frame(id, .ping(PingResponse(payload: [], serving: .serving))))
        }
    }

    /// The post as the service tells it.
    private func told(_ post: Post) -> Post {
        var post = post
        post.score = faults.readScore ?? post.score
        return post
    }

    private func answerHello(_ hello: HelloRequest, _ state: inout State) -> HelloResponse {
        let key = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
        let (isKnown, lastSequence) = hello.clientID.isEmpty ? (false, 0) : state.channels.open(key)
        return HelloResponse(
            serverName: "fake",
            instanceID: state.instanceID,
            serverTimeMilliseconds: faults.clock ?? Self.startMilliseconds,
            limits: nil,
            capabilities: faults.lacksExactlyOnce ? [] : [.exactlyOnce],
            isClientKnown: isKnown,
            lastSequence: lastSequence
        )
    }

    private func make(_ post: Post, in feed: String, _ state: inout State) -> UInt64 {
        var post = post
        post.id = state.nextID
        post.feed = feed
        state.nextID += 1
        state.createCount += 1
        state.posts[post.id] = post
        return post.id
    }

    private func isFatal(_ state: inout State) -> Action? {
        if state.isMortal, state.createCount == faults.dieAtCreate { return .die }
        return faults.loseCreateEvery.flatMap { state.createCount % $0 == 0 ? .lose : nil }
    }

    /// The token is the number of posts before the page, in four bytes.
    private static func page(_ list: ListPostsRequest, _ state: State) -> ListPostsResponse {
        let start = start(list)
        let all = state.posts.values.filter { list.feed.isEmpty || $0.feed == list.feed }
        let ordered = all.sorted { one, other in
            if one.score != other.score { return one.score > other.score }
            if one.title != other.title {
                return one.title.utf8.lexicographicallyPrecedes(other.title.utf8)
            }
            return one.id < other.id
        }
        let size = list.pageSize == 0 ? 20 : Int(list.pageSize)
        let page = Array(ordered.dropFirst(start).prefix(size))
        let end = start + page.count
        return ListPostsResponse(
            posts: page,
            nextPageToken: end < ordered.count ? token(end) : [],
            previousPageToken: [],
            firstRank: UInt64(start + 1),
            totalSize: UInt64(ordered.count)
        )
    }

    private static func start(_ list: ListPostsRequest) -> Int {
        list.pageToken.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func token(_ start: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: start >> (8 * $0)) }
    }

    private static func makeUpPosts(_ list: ListPostsRequest, _ page: inout ListPostsResponse) {
        let places = start(list)..<start(list) + 100
        page.posts = places.map { Post(id: UInt64(1_000_000 + $0), feed: list.feed, title: "x") }
        page.nextPageToken = token(places.upperBound)
    }

    private func frame(_ id: UInt64, _ response: Response) -> ServerFrame {
        ServerFrame(id: id, revision: 0, response: response)
    }

    private func notFound(_ id: UInt64) -> Action {
        .answer(Self.failure(id, .notFound, .postNotFound, isNotExecuted: true))
    }

    /// The service's clock stands still.
    private static let startMilliseconds: Int64 = 1_000_000
}
