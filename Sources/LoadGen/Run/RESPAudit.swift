internal import FeedClient
import FeedTransport

/// Compares what a run knows of its posts with the sorted set that redis-server has.
///
/// First the score of each post is read, then, after a pause, the whole set once, best first. A set
/// in which nothing is wrong is removed then.
struct RESPAudit: Sendable {
    let address: SocketAddress
    let posts: RESPSortedSet
    let knowledge: AuditKnowledge
    let configuration: RunConfiguration

    /// Audits over a connection of its own.
    func run() async -> AuditOutcome {
        do throws(RESPFailure) {
            let client = try await RESPClient.connect(to: address, configuration)
            let outcome = await read(over: client)
            await client.close()
            return outcome
        } catch {
            return .impossible(error.description)
        }
    }

    private func read(over client: RESPClient) async -> AuditOutcome {
        do throws(RESPFailure) {
            var summary = knowledge.summary
            let start = ContinuousClock.now
            let scores = try await readScores(over: client, &summary)
            do {
                try await Task.sleep(until: start + Self.quietTime, clock: .continuous)
            } catch {
                throw .connectionLost
            }
            try await walk(over: client, scores, &summary)
            if summary.findings.isEmpty { _ = try await client.call([posts.remove]) }
            return .done(summary)
        } catch {
            return .impossible(error.description)
        }
    }

    /// Compares the score of each post with the votes on it.
    private func readScores(
        over client: RESPClient,
        _ summary: inout AuditSummary
    ) async throws(RESPFailure) -> [UInt64: Int64] {
        var votes = VoteAudit()
        var scores: [UInt64: Int64] = [:]
        var rest = knowledge.accounts[...]
        while !rest.isEmpty {
            let accounts = rest.prefix(Self.postsPerCall)
            rest = rest.dropFirst(Self.postsPerCall)
            let replies = try await client.call(accounts.map { posts.score($0.id) })
            for (account, reply) in zip(accounts, replies) {
                scores[account.id] = reply.score
                if votes.check(account, score: reply.score) { summary.exactPostCount += 1 }
            }
        }
        summary.findings.add(votes.findings)
        summary.countedVoteCount = votes.countedVoteCount
        return scores
    }

    /// Reads the set in its order: each post once, with the score that it had before the pause.
    private func walk(
        over client: RESPClient,
        _ scores: [UInt64: Int64],
        _ summary: inout AuditSummary
    ) async throws(RESPFailure) {
        var seen: Set<UInt64> = []
        var last: RESPPage.Entry?
        var place = 0
        while true {
            let replies = try await client.call([posts.page(from: place, count: Self.postsPerCall)])
            guard let page = replies.first.flatMap(RESPPage.init) else {
                throw .badReply("ZREVRANGE was answered with something that is no page.")
            }
            // A server that makes up members would never come to an empty page.
            guard !page.entries.isEmpty, seen.count <= knowledge.accounts.count else { break }
            page.check(after: last, into: &summary.findings)
            for entry in page.entries {
                if !seen.insert(entry.post).inserted {
                    summary.findings.note(.listedTwice, "The walk lists post \(entry.post) twice.")
                }
                if let score = scores[entry.post], score != entry.score {
                    summary.findings.note(
                        .movingScore,
                        """
                        Post \(entry.post) had score \(score) after the run and \(entry.score) on its \
                        page.
                        """
                    )
                }
            }
            last = page.entries.last
            place += page.entries.count
        }
        for id in knowledge.accounts.map(\.id) where !seen.contains(id) {
            summary.findings.note(.notListed, "No page lists post \(id).")
        }
        summary.listedPostCount = UInt64(seen.count)
        guard try await client.call([posts.count]) != [.integer(Int64(seen.count))] else { return }
        summary.findings.note(.walkCount, "ZCARD is not the \(seen.count) posts of the walk.")
    }

    /// Commands, or posts of a page, in one call.
    private static let postsPerCall = 1000
    /// Scores that still change after this time are changed by other traffic.
    private static let quietTime = Duration.milliseconds(200)
}
