/// The calls of the protocol, as the statistics count them.
enum Method: Int, CaseIterable {
    case hello
    case ping
    case createPost
    case getPost
    case batchGetPosts
    case listPosts
    case updatePost
    case deletePost
    case getPostRank
    case castVote
    case batchCastVotes
    case listFeeds
    case createFeed
    case getServerStats
    case unknown

    /// The name of the call in the protocol's documentation.
    var name: String {
        switch self {
        case .hello: "Hello"
        case .ping: "Ping"
        case .createPost: "CreatePost"
        case .getPost: "GetPost"
        case .batchGetPosts: "BatchGetPosts"
        case .listPosts: "ListPosts"
        case .updatePost: "UpdatePost"
        case .deletePost: "DeletePost"
        case .getPostRank: "GetPostRank"
        case .castVote: "CastVote"
        case .batchCastVotes: "BatchCastVotes"
        case .listFeeds: "ListFeeds"
        case .createFeed: "CreateFeed"
        case .getServerStats: "GetServerStats"
        case .unknown: "Unknown"
        }
    }
}
