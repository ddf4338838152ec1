import LoadGen
import Testing

/// The phases of a run, event by event, without a service.
@Suite struct RunMachineTests {
    /// A run of two threads.
    private static func machine(
        _ flags: [String] = [],
        isVerification: Bool = false
    ) throws -> RunMachine {
        let configuration = try configure(["--threads", "2", "--clients", "2"] + flags)
        return RunMachine(configuration, isVerification: isVerification)
    }

    private static let connected = RunEvent.connected(openedCount: 1, failures: Failures())

    /// The names of the actions after events, one list for each event.
    private static func actions(_ machine: inout RunMachine, _ events: [RunEvent]) -> [[String]] {
        events.map { event in machine.handle(event, at: 1_000).map(\.name) }
    }

    @Test func runsThroughItsPhases() throws {
        var machine = try Self.machine()
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .warmupEnded, .measuringEnded,
                .finished(endNanoseconds: 7), .finished(endNanoseconds: 9), .auditConnected,
                .audited(.skipped),
            ]
        )
        #expect(
            actions == [
                ["startThreads"], [], ["begin"], ["startMeasuring"], ["stopMeasuring"], [],
                ["endLoad 9", "audit"], [], ["finish skipped"],
            ]
        )
    }

    @Test func endsWithoutAnAuditWhereNoneIsAskedFor() throws {
        var machine = try Self.machine(["--no-verify"])
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .finished(endNanoseconds: 1),
                .finished(endNanoseconds: 2), .warmupEnded, .measuringEnded,
            ]
        )
        #expect(
            actions.dropFirst(3) == [[], ["endLoad 2", "finish skipped"], [], []]
        )
    }

    @Test func mergesTheIntervalsOfItsThreads() throws {
        var machine = try Self.machine()
        let counts = IntervalCounts(
            answered: [1, 0, 0, 0, 0],
            latencies: LatencyScale.makeHistogram()
        )
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .warmupEnded,
                .interval(0, endNanoseconds: 5, counts), .interval(0, endNanoseconds: 6, counts),
                .interval(1, endNanoseconds: 8, counts), .finished(endNanoseconds: 8),
                .finished(endNanoseconds: 7),
            ]
        )
        #expect(
            actions.dropFirst(4) == [
                [], ["report 0 2 at 6"], [], [],
                ["report 1 1 at 8", "endLoad 8", "audit"],
            ]
        )
    }

    @Test func failsWhereNoConnectionOpens() throws {
        var machine = try Self.machine()
        var failures = Failures()
        failures.count(.refused)
        let event = RunEvent.connected(openedCount: 0, failures: failures)
        let actions = Self.actions(&machine, [.prepared, event, event])
        #expect(actions.last?.first?.contains("No connection of the load could be opened") == true)
    }

    @Test func endsBeforeItsLoadWithTheCauseAsItsAudit() throws {
        var machine = try Self.machine()
        let cause = RunFailure.connectionLost(step: "creating posts")
        #expect(Self.actions(&machine, [.endedEarly(cause)]) == [["finish impossible"]])
    }

    @Test func fallsToASignalBeforeItsLoad() throws {
        for events in [[], [RunEvent.prepared], [.prepared, Self.connected]] {
            var machine = try Self.machine()
            let actions = Self.actions(&machine, events + [.interrupted, .interrupted])
            #expect(actions.suffix(2) == [["fail \(RunFailure.interrupted)"], []])
        }
        var machine = try Self.machine(isVerification: true)
        let actions = Self.actions(&machine, [.auditConnected, .interrupted])
        #expect(actions == [[], ["fail \(RunFailure.interrupted)"]])
    }

    @Test func stopsSendingWithASignalAndAuditsNonetheless() throws {
        for events in [[], [RunEvent.warmupEnded], [.warmupEnded, .measuringEnded]] {
            var machine = try Self.machine()
            let begin: [RunEvent] = [.prepared, Self.connected, Self.connected]
            let ends: [RunEvent] = [.finished(endNanoseconds: 1), .finished(endNanoseconds: 1)]
            let actions = Self.actions(&machine, begin + events + [.interrupted] + ends)
            #expect(actions.suffix(3) == [["stopSending"], [], ["endLoad 1", "audit"]])
            #expect(Self.actions(&machine, [.interrupted]) == [["cancelAudit"]])
            #expect(
                Self.actions(&machine, [.auditConnected, .interrupted])
                    == [[], ["cancelAuditIfLost"]]
            )
            #expect(Self.actions(&machine, [.interrupted]) == [["cancelAudit"]])
        }
    }
}

extension RunAction {
    /// The action and the part of its value that tests look at.
    fileprivate var name: String {
        switch self {
        case .startThreads: "startThreads"
        case .begin: "begin"
        case .startMeasuring: "startMeasuring"
        case .stopMeasuring: "stopMeasuring"
        case .stopSending: "stopSending"
        case .report(let interval):
            "report \(interval.number) \(interval.counts.answered[0]) at \(interval.endNanoseconds)"
        case .endLoad(let end): "endLoad \(end)"
        case .audit: "audit"
        case .cancelAudit: "cancelAudit"
        case .cancelAuditIfLost: "cancelAuditIfLost"
        case .finish(.skipped): "finish skipped"
        case .finish(.impossible): "finish impossible"
        case .finish(.done): "finish done"
        case .fail(let failure): "fail \(failure)"
        }
    }
}
