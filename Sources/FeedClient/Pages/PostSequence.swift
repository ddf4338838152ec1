public import FeedProto

/// The posts of a list from the first to the last; a page is read when its first post is wanted.
public struct PostSequence: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Post
    /// Why it may end before the last post.
    public typealias Failure = FeedClientError

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
            }
            return posts.popFirst()
        }

        /// The next post; nil after the last one.
        public mutating func next() async throws(FeedClientError) -> Post? {
            try await next(isolation: nil)
        }
    }
}
