import FeedRanking
import FeedTestSupport
import Testing

@Suite struct EffectLogsTests {
    private static func append(_ log: EffectLog, revision: UInt64) {
        log.append(.deletion(PostID(rawValue: 1), revision: revision))
    }

    @Test func aCutTakesWhatWaitsAndNothingTwice() throws {
        let logs = EffectLogs(count: 2, firstCut: 5) {}
        var body: [UInt8] = [1, 2, 3]
        #expect(logs.newestCut == 4)
        #expect(logs.openCut == 5)
        #expect(logs.takeCut(into: &body) == nil)
        #expect(body.isEmpty)
        #expect(logs.openCut == 5, "An empty cut has no number.")

        logs[1].lock()
        #expect(logs.newestCut == 4)
        Self.append(logs[1], revision: 8)
        #expect(logs.newestCut == 5, "It is said before the section ends.")
        Self.append(logs[1], revision: 9)
        let byteCount = logs[1].byteCount
        #expect(logs.waitingByteCount == 0)
        logs[1].unlock()
        #expect(logs.waitingByteCount == byteCount)

        let first = try #require(logs.takeCut(into: &body))
        #expect(first.cut == 5 && first.effectCount == 2)
        #expect(body.count == byteCount + 4)
        #expect(logs.waitingByteCount == 0)
        #expect(logs.newestCut == 5 && logs.openCut == 6)
        #expect(logs.takeCut(into: &body) == nil)

        logs[0].lock()
        Self.append(logs[0], revision: 10)
        logs[0].unlock()
        #expect(logs.newestCut == 6)
        let second = try #require(logs.takeCut(into: &body))
        #expect(second.cut == 6 && second.effectCount == 1)
        #expect(
            try EffectReader.effects(body) == [.deletion(PostID(rawValue: 1), revision: 10)]
        )
    }

    @Test func tellsOfACutsFirstEffectOnceAndAfterTheSection() {
        let told = Locked(0)
        let logs = EffectLogs(count: 3, firstCut: 1) { told.withLock { $0 += 1 } }
        for cut in 1...3 {
            for log in 0..<3 {
                logs[log].lock()
                #expect(told.withLock { $0 } == (log == 0 ? cut - 1 : cut))
                for _ in 0..<2 { Self.append(logs[log], revision: UInt64(cut)) }
                #expect(told.withLock { $0 } == (log == 0 ? cut - 1 : cut))
                logs[log].unlock()
                // A section without effects tells of nothing.
                logs[log].lock()
                logs[log].unlock()
                #expect(told.withLock { $0 } == cut)
            }
            #expect(logs.nextBody() != nil)
        }
    }

    @Test func noLogTakesAnything() {
        let log = EffectLog.none
        log.lock()
        Self.append(log, revision: 1)
        #expect(log.byteCount == 0 && log.isNone)
        log.unlock()
    }

    /// Threads write sections of an even number of effects while cuts are taken.
    @Test func noSectionIsSplitAndCutsAreInOrder() async throws {
        let logs = EffectLogs(count: 3, firstCut: 1) {}
        let revisions = Locked<UInt64>(0)
        let running = Locked(3)
        var bodies: [[UInt8]] = []
        await withTaskGroup(of: Void.self) { group in
            for loop in 0..<3 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(loop))
                    for section in 0..<2_000 {
                        logs[loop].lock()
                        for _ in 0..<Int.random(in: 0..<6, using: &random) {
                            let revision = revisions.withLock { revisions in
                                revisions += 1
                                Self.append(logs[loop], revision: revisions)
                                return revisions
                            }
                            logs[loop].append(
                                ChannelOutcome(
                                    channel: UInt64(loop),
                                    sequence: UInt64(section),
                                    requestHash: 0,
                                    outcome: .id(revision)
                                )
                            )
                            precondition(logs.newestCut >= logs.openCut, "A cut has an effect.")
                        }
                        logs[loop].unlock()
                    }
                    running.withLock { $0 -= 1 }
                }
            }
            while running.withLock({ $0 > 0 }) {
                if let body = logs.nextBody() { bodies.append(body) }
                await Task.yield()
            }
        }
        if let body = logs.nextBody() { bodies.append(body) }
        var last: UInt64 = 0
        var lastSections = [-1, -1, -1]
        for body in bodies {
            var sections: [Int] = [-1, -1, -1]
            for effect in try EffectReader.effects(body) {
                switch effect {
                case .deletion(_, let revision):
                    #expect(revision == last + 1)
                    last = revision
                case .outcome(let outcome):
                    #expect(outcome.outcome == .id(last))
                    let loop = Int(outcome.channel)
                    #expect(Int(outcome.sequence) > lastSections[loop], "A section was split.")
                    sections[loop] = Int(outcome.sequence)
                default:
                    Issue.record("\(effect) was never written.")
                }
            }
            for loop in 0..<3 { lastSections[loop] = max(lastSections[loop], sections[loop]) }
        }
        #expect(last == revisions.withLock { $0 })
    }
}
