import FeedProto

extension ClientConnection {
    /// Checks a page, and goes on from it with the next one.
    func receive(_ page: ListPostsResponse, _ operation: Operation, _ request: InFlightRequest) {
        let posts = page.posts.map(ListedPost.init)
        PageCheck.check(posts, into: &worker.counts.findings)
        worker.shownScores?.check(
            posts,
            isFirst: operation == .list,
            askedAt: request.sent,
            into: &worker.counts.findings
        )
        pageToken = page.nextPageToken
    }
}

extension Worker {
    /// Counts an acknowledged vote, whose score later pages must show.
    @inline(__always)
    func acknowledge(_ answer: VoteAnswer, of vote: UInt32, count: Int64) {
        posts.acknowledge(vote, score: count)
        shownScores?.note(answer.postID, score: answer.score)
    }
}
