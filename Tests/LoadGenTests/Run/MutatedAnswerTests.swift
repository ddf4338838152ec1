import FeedTestSupport
import Foundation
import LoadGen
import Testing

extension LiveTests {
    /// Runs against services whose answers are damaged, or made up to do damage.
    ///
    /// `FEED_MUTATED_ANSWERS` says how many answers are changed, instead of the few of a usual test run.
    @Suite struct MutatedAnswerTests {
        private static let answerCount = TestEnvironment.number("FEED_MUTATED_ANSWERS") ?? 150
        /// Few posts, all operations, and many connections: a damaged answer ends one.
        private static let flags = [
            "-n", "1k", "-w", "0", "--clients", "40", "-P", "8", "--posts", "20", "--timeout",
            "200ms",
            "--page-size", "5",
        ]

        @Test func survivesThemFromAService() async throws {
            var seed = TestEnvironment.firstSeed
            var count: UInt64 = 0
            while count < Self.answerCount {
                var faults = FakeFaults()
                // A service that damages less lets a run come further.
                faults.mutation = (seed, [5, 40, 400][Int(seed % 3)])
                let service = try await FakeService.start(faults)
                let mix = [["vote=6,create=1,list=1,page=1,get=1"], ["vote"]][Int(seed / 3 % 2)]
                let batch = seed % 4 == 3 ? ["--batch", "3"] : []
                let flags = Self.flags + ["--mix"] + mix + batch
                check(try? await load(service, flags), seed)
                await service.stop()
                count += max(1, service.feed.state.withLock { $0.mutator?.count ?? 0 })
                seed += 1
            }
        }

        @Test func survivesThemFromRedisServer() async throws {
            var seed = TestEnvironment.firstSeed
            var count: UInt64 = 0
            while count < Self.answerCount {
                let faults = FakeRedis.Faults(mutation: (seed, [5, 40, 400][Int(seed % 3)]))
                let server = try await FakeRedis.start(faults)
                let flags = Self.flags + ["--mix", "vote=6,list=1,page=1,get=1"]
                check(try? await loadRedis(server, flags), seed)
                await server.stop()
                count += max(1, server.mutatedCount)
                seed += 1
            }
        }

        /// Whatever came, the generator's own counts hold, and no text obeys the service.
        private func check(_ result: RunReport?, _ seed: UInt64) {
            guard let result else { return }
            #expect(result.totals.outcomes.isConserved, "seed \(seed)")
            let json = result.json
            for text in [TextReport(result).rendered(), json] {
                let isPlain = text.unicodeScalars.allSatisfy {
                    $0 == "\n" || ![.control, .format].contains($0.properties.generalCategory)
                }
                #expect(isPlain, "seed \(seed): \(text.debugDescription)")
            }
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(json.utf8)) }
        }

        /// The numbers that damage does not find: each at an end of its range.
        @Test(arguments: [Int64.min, .max])
        func survivesTheLargestNumbers(_ number: Int64) async throws {
            let faults = FakeFaults(clock: number, readScore: number)
            let service = try await FakeService.start(faults)
            let result = try await load(service, shortLoad)
            await service.stop()
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func printsNothingRawOfARefusal() async throws {
            let service = try await FakeService.start(
                FakeFaults(refusal: "\u{1B}]0;x\u{7}\nexit 0")
            )
            let failure = await #expect(throws: RunFailure.self) {
                try await load(service, shortLoad)
            }
            await service.stop()
            let text = try #require(failure?.description)
            #expect(text.contains(#"\u{1B}]0;x\u{7}\nexit 0"#), "\(text.debugDescription)")
        }
    }
}
