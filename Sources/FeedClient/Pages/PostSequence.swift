public import FeedProto

/// The posts of a list from the first to the last; a page is read when its first post is wanted.
public struct PostSequence: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Post
    /// Why it may end before the last post.
    public typealias Failure = FeedClientError

    /// The most pages without a post that are read for one: a filter of a page looks at 5,000 posts, so that
    /// is one of 327 million.
    package static var maximumEmptyPageCount: Int { 1 << 16 }

    fileprivate let client: any FeedCalling
    fileprivate let list: PostList
    fileprivate let pageSize: Int

    init(client: any FeedCalling, list: PostList, pageSize: Int) {
        self.client = client
        self.list = list
        self.pageSize = pageSize
    }

    /// Starts at the first post.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// A place in the list.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: PostSequence
        private var posts: ArraySlice<Post> = []
        /// Where the next page starts; nil at the end of the list.
        private var nextStart: PageStart? = .first
        /// How many pages without a post have followed one another.
        private var emptyPageCount = 0

        fileprivate init(_ sequence: PostSequence) {
            self.sequence = sequence
        }

        /// The next post; nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(FeedClientError) -> Post? {
            while posts.isEmpty, let start = nextStart {
                let page = try await sequence.client.listPosts(
                    sequence.list,
                    pageSize: sequence.pageSize,
                    from: start
                )
                posts = page.posts[...]
                nextStart = page.next.map(PageStart.token)
                emptyPageCount = posts.isEmpty ? emptyPageCount + 1 : 0
                if let problem = problem(after: start) {
                    nextStart = nil
                    throw .protocolViolation(reason: problem, effect: .none)
                }
            }
            return posts.popFirst()
        }

        /// Why the pages would not come to an end; nil while they lead on.
        private func problem(after start: PageStart) -> String? {
            if nextStart == start { return "The token of a page leads to the same page." }
            guard nextStart != nil, emptyPageCount >= PostSequence.maximumEmptyPageCount else {
                return nil
            }
            return "\(emptyPageCount) pages in a row have no post, and lead on."
        }

        /// The next post; nil after the last one.
        public mutating func next() async throws(FeedClientError) -> Post? {
            try await next(isolation: nil)
        }
    }
}
