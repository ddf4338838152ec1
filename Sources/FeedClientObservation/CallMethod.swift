internal import FeedProto

/// The calls by the names that the contract gives them.
enum CallMethod: String, CaseIterable {
    case hello = "Hello"
    case ping = "Ping"
    case cancel = "Cancel"
    case signUp = "SignUp"
    case signIn = "SignIn"
    case getSession = "GetSession"
    case signOut = "SignOut"
    case createPost = "CreatePost"
    case importPosts = "ImportPosts"
    case getPost = "GetPost"
    case batchGetPosts = "BatchGetPosts"
    case listPosts = "ListPosts"
    case updatePost = "UpdatePost"
    case deletePost = "DeletePost"
    case syncPosts = "SyncPosts"
    case watchPosts = "WatchPosts"
    case getPostRank = "GetPostRank"
    case castVote = "CastVote"
    case batchCastVotes = "BatchCastVotes"
    case markPosts = "MarkPosts"
    case listFeeds = "ListFeeds"
    case createFeed = "CreateFeed"
    case getServerStats = "GetServerStats"
    case backup = "Backup"
    case correctTimes = "CorrectTimes"
    case deletePosts = "DeletePosts"
    case drain = "Drain"
    case setLogLevel = "SetLogLevel"

    /// The call of a request.
    init(_ request: Request) {
        self =
            switch request {
            case .hello: .hello
            case .ping: .ping
            case .cancel: .cancel
            case .signUp: .signUp
            case .signIn: .signIn
            case .getSession: .getSession
            case .signOut: .signOut
            case .createPost: .createPost
            case .importPosts: .importPosts
            case .getPost: .getPost
            case .batchGetPosts: .batchGetPosts
            case .listPosts: .listPosts
            case .updatePost: .updatePost
            case .deletePost: .deletePost
            case .syncPosts: .syncPosts
            case .watchPosts: .watchPosts
            case .getPostRank: .getPostRank
            case .castVote: .castVote
            case .batchCastVotes: .batchCastVotes
            case .markPosts: .markPosts
            case .listFeeds: .listFeeds
            case .createFeed: .createFeed
            case .getServerStats: .getServerStats
            case .backup: .backup
            case .correctTimes: .correctTimes
            case .deletePosts: .deletePosts
            case .drain: .drain
            case .setLogLevel: .setLogLevel
            }
    }
}
