internal import FeedLog
internal import FeedRanking

/// The posts of `--sample-data`: twenty titles for a first look at the service.
enum SampleData {
    /// One title a post, in no order of rank.
    static let titles = [
        "Apple", "Apricot", "Avocado", "Banana", "Blackberry", "Blueberry", "Cherry", "Coconut",
        "Fig", "Grape", "Kiwi", "Lemon", "Mango", "Melon", "Orange", "Papaya", "Peach", "Pear",
        "Pineapple", "Strawberry",
    ]

    /// Creates the posts in the feed `posts`.
    static func fill(_ store: FeedStore, logging changeLog: ChangeLog) {
        guard let feed = store.feed(named: FeedPolicy.posts.name) else { return }
        changeLog.transaction {
            var page = PostPage()
            for title in titles {
                do throws(RankingError) {
                    try store.createPost(
                        PostContent(title: title),
                        in: feed,
                        sink: changeLog,
                        into: &page
                    )
                } catch {
                    preconditionFailure("A feed that was found takes posts: \(error)")
                }
            }
        }
    }
}
