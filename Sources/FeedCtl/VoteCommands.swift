internal import ArgumentParser
internal import FeedClient
package import FeedProto

struct VoteCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "vote",
        abstract: "Votes on a post and shows its counts."
    )

    static let identityFlags = "--acting-user, or --client-id where devices have ballots"

    @Argument(help: "The post.")
    var id: PostID

    @Argument(help: "What the vote says: up, down, or clear where votes are ballots.")
    var direction: WireArgument<VoteDirection>

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        Sentence.vote(try await client.vote(on: id, direction.value))
    }
}

struct UpCommand: QueueableCommand {
    static let configuration = CommandConfiguration(commandName: "up", abstract: "Votes a post up.")

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    var change: PersonChange { .vote(id, .up) }
}

struct DownCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Votes a post down."
    )

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    var change: PersonChange { .vote(id, .down) }
}

extension Sentence {
    package static func vote(_ counts: CastVoteResponse) -> Sentence {
        let vote = counts.vote.argument
        return Sentence(
            "Post \(counts.postID): score \(counts.score) "
                + "(\(counts.upvoteCount) up, \(counts.downvoteCount) down)"
                + (vote.isEmpty ? "" : ", your vote is \(vote)") + ".",
            [
                "post_id": counts.postID, "score": counts.score,
                "upvote_count": counts.upvoteCount, "downvote_count": counts.downvoteCount,
                "vote": vote,
            ]
        )
    }
}
