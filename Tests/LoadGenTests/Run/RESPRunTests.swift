import FeedTestSupport
import Histogram
import LoadGen
import Testing

extension LiveTests {
    /// Runs against a server that speaks RESP2, as redis-server does.
    @Suite struct RESPRunTests {
        @Test(arguments: [
            ["-P", "1"], ["-P", "16"], ["-P", "16", "--pipeline-mode", "batch"],
            ["--threads", "3"], ["-R", "20k", "-P", "8"],
        ])
        func countsEveryVoteOnce(_ arguments: [String]) async throws {
            let server = try await FakeRedis.start()
            let result = try await loadRedis(server, shortLoad + arguments)
            let sets = server.sets
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000 && summary.countedVoteCount == 5000)
            #expect(summary.exactPostCount == 50 && summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.exitStatus == .success)
            // A set in which nothing is wrong is removed.
            #expect(sets.isEmpty)
        }

        @Test func readsPagesAndScores() async throws {
            let server = try await FakeRedis.start()
            let arguments = [
                "--mix", "vote=40,list=20,page=20,get=20", "--page-size", "7", "-P", "4",
            ]
            let result = try await loadRedis(server, shortLoad + arguments)
            await server.stop()
            #expect(result.audit.isPassed)
            for operation in [Operation.vote, .list, .page, .get] {
                let histogram = result.totals.latencies[LatencyKey(operation, .service)]
                #expect(histogram?.totalCount ?? 0 > 0, "\(operation.name)")
            }
        }

        @Test func sendsTheVotesThatTheServiceWouldGet() async throws {
            let arguments = shortLoad + ["-c", "1", "--keys", "zipf:1.2", "--seed", "7"]
            let redis = try await FakeRedis.start()
            _ = try await loadRedis(redis, arguments + ["--no-verify"])
            let members = try #require(redis.sets.values.first)
            await redis.stop()
            let service = try await FakeService.start()
            _ = try await load(service, arguments)
            let scores = service.feed.scores
            await service.stop()
            #expect(members.sorted { $0.key < $1.key }.map(\.value) == scores)
        }

        @Test(
            arguments: [
                (.lostVote, FakeRedis.Faults(dropEvery: 1000)),
                (.extraVote, FakeRedis.Faults(doubleEvery: 1000)),
                (.countedError, FakeRedis.Faults(refuseCountedEvery: 1000)),
                (.pageOrder, FakeRedis.Faults(swapsPages: true)),
            ] as [(Violation, FakeRedis.Faults)]
        )
        func catches(_ violation: Violation, _ faults: FakeRedis.Faults) async throws {
            let server = try await FakeRedis.start(faults)
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            let sets = server.sets
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
            // What is wrong stays to be looked at.
            #expect(sets.count == 1)
        }

        @Test func passesErrorsThatDidNotCount() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(refuseEvery: 100))
            let result = try await loadRedis(server, shortLoad)
            await server.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 50)
            #expect(result.totals.failures.serverErrors == ["OOM command not allowed": 50])
        }

        @Test func resetsAConnectionWhoseReplyIsNone() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(misreplyAt: 2008))
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            await server.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is not the answer to a vote"))
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func knowsThatALostVoteMayHaveCounted() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(loseEvery: 1000))
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            await server.stop()
            #expect(result.totals.outcomes.lost > 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func saysWhyAServerRefusesTheRun() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(wantsPassword: true))
            let failure = await #expect(throws: RunFailure.self) {
                try await loadRedis(server, shortLoad)
            }
            await server.stop()
            #expect(
                failure?.description
                    == "redis-server, while adding posts: NOAUTH Authentication required."
            )
        }

        @Test func saysThatAServerDoesNotAnswer() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(isSilent: true))
            var configuration = try configure(
                ["--protocol", "resp", "--target", "\(server.address)"] + shortLoad
            )
            configuration.replyTimeout = .milliseconds(20)
            let patient = configuration
            let failure = await #expect(throws: RunFailure.self) {
                try await offload { try Run(patient).execute() }
            }
            await server.stop()
            #expect(
                failure?.description
                    == "redis-server, while adding posts: No reply came within 20ms."
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func endsAWalkOverMembersThatAreMadeUp() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(makesUpMembers: true))
            let result = try await loadRedis(server, shortLoad)
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[.notListed] == 50)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(.enabled(if: RedisServer.isAvailable, "\(RedisServer.absence)"))
        func auditsRedisServer() async throws {
            let server = try await RedisServer()
            let mix = [
                "--mix", "vote=90,list=4,page=4,get=2", "-P", "8", "--pipeline-mode", "batch",
            ]
            let result = try await load(at: server.target, shortLoad + mix)
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.exactPostCount == 50 && summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.serverPID == Int(server.process.id))
        }
    }
}

/// Runs a load over RESP against `server`.
func loadRedis(_ server: FakeRedis, _ arguments: [String]) async throws -> RunReport {
    try await load(at: "\(server.address)", arguments)
}

private func load(at target: String, _ arguments: [String]) async throws -> RunReport {
    let configuration = try configure(["--protocol", "resp", "--target", target] + arguments)
    return try await offload { try Run(configuration).execute() }
}
