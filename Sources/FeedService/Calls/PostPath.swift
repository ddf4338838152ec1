/// The place of a post in its request, for the names of wrong fields.
enum PostPath {
    /// The request's one post.
    case only
    /// One of the request's posts, counted from 0.
    case item(Int)

    /// The path of a post's field, as `posts[17].title`; made only for wrong fields.
    func field(_ name: StaticString) -> String {
        switch self {
        case .only: "post.\(name)"
        case .item(let index): "posts[\(index)].\(name)"
        }
    }
}
