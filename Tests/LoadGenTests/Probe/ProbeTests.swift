import FeedTransport
import LoadGen
import Testing

@Suite struct ProbeTests {
    @Test func findsListeningSocketsByPort() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1D09 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100
               1: 0100007F:1D09 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100
               2: 0100007F:1D0A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100
            broken
            """
        #expect(ServerProcess.listeningInodes(table, port: 7433) == [4711])
        #expect(ServerProcess.listeningInodes(table, port: 7434) == [4713])
        #expect(ServerProcess.listeningInodes("", port: 7433) == [])
    }

    @Test func findsTheServiceOfThisProcess() async throws {
        // More listeners than the kernel writes in one piece of its table.
        var others: [FakeService] = []
        for _ in 0..<60 { others.append(try await FakeService.start()) }
        let service = try await FakeService.start()
        let process = ServerProcess.find(port: service.address.port)
        await service.stop()
        for other in others { await other.stop() }
        let found = try #require(process)
        #expect(ProcessSample(of: "\(found)") != nil)
    }

    @Test func readsWhatTheKernelWrites() {
        #expect(
            ProcessSample.Task(parsing: "206218559 120325 12\n")
                == .init(runNanoseconds: 206_218_559, waitNanoseconds: 120_325)
        )
        #expect(ProcessSample.Task(parsing: "") == nil)
        let stat = "12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"
        #expect(ProcessSample.ticks(stat) == (150, 50))
        #expect(ProcessSample.ticks("12 (cut") == (0, 0))
        let status = "Cpus_allowed:\tff\nCpus_allowed_list:\t0-2,5\n"
        #expect(ProcessSample.cores(status) == [0, 1, 2, 5])
        #expect(ProcessSample.cores("Cpus_allowed_list:\t7\n") == [7])
        #expect(ProcessSample.cores("Cpus_allowed_list:\t3-1,x\n") == [])
        #expect(ProcessSample.cores("") == [])
        #expect(ProcessSample.resident("VmPeak: 9 kB\nVmRSS:\t  2048 kB\n") == 2_097_152)
        let machine = MachineSample(parsing: "cpu  100 0 50 800 10 0 20 20 0 0\ncpu0 1\n")
        #expect(machine?.totalTicks == 1000)
        #expect(machine?.busyTicks == 170)
        #expect(machine?.stealTicks == 20)
        #expect(MachineSample(parsing: "intr 1") == nil)
    }

    @Test func subtractsSamplesThreadByThread() {
        let start = ProcessSample(tasks: [
            1: .init(runNanoseconds: 1_000_000_000, waitNanoseconds: 5),
            2: .init(runNanoseconds: 7_000_000_000, waitNanoseconds: 0),
        ])
        let end = ProcessSample(tasks: [
            1: .init(runNanoseconds: 2_000_000_000, waitNanoseconds: 500_000_005),
            3: .init(runNanoseconds: 250_000_000, waitNanoseconds: 0),
        ])
        let usage = ProcessUsage(from: start, to: end, intervalSeconds: 2)
        #expect(usage.seconds == 1.25)
        #expect(usage.busiestThreadShare == 0.5)
        #expect(usage.waitShare == 0.25)
    }
}

@Suite struct VerdictTests {
    private func verdict(_ change: (inout Verdict.Inputs) -> Void) -> Verdict {
        var inputs = Verdict.Inputs()
        inputs.serverThreadShare = 0.5
        change(&inputs)
        return Verdict(inputs)
    }

    @Test func saysWhatIsAtItsLimit() {
        #expect(verdict { _ in }.bound == .none)
        #expect(verdict { $0.serverThreadShare = nil }.bound == .unknown)
        #expect(verdict { $0.serverThreadShare = 0.96 }.bound == .server)
        #expect(verdict { $0.generatorThreadShare = 0.86 }.bound == .client)
        #expect(verdict { $0.loopIdleShare = 0.05 }.bound == .client)
        #expect(verdict { $0.loopIdleShare = nil }.bound == .none)
        #expect(verdict { $0.slip99AndResponse99 = (2e6, 1e7) }.bound == .client)
        let both = verdict {
            $0.serverThreadShare = 1
            $0.generatorThreadShare = 0.9
        }
        #expect(both.bound == .both)
    }

    @Test func trustsARunThatNothingDisturbed() {
        let fine = verdict { inputs in
            inputs.serverThreadShare = 0.99
            inputs.slip99AndResponse99 = (1e5, 1e7)
            inputs.offeredAndAchieved = (1000, 995)
            inputs.drift = -0.04
            inputs.stealShare = 0.01
            inputs.otherShare = 0.01
        }
        #expect(fine.isValid && fine.reasons.isEmpty && !fine.isContended)
        #expect(fine.figures == .comparable && fine.summary == nil)
    }

    @Test func doesNotTrustADisturbedRun() {
        let disturbed = [
            verdict { $0.stealShare = 0.04 }, verdict { $0.otherShare = 0.04 },
            verdict { $0.serverWaitShare = 0.06 }, verdict { $0.drift = 0.06 },
            verdict { $0.offeredAndAchieved = (1000, 980) }, verdict { $0.loopIdleShare = 0 },
        ]
        for verdict in disturbed { #expect(!verdict.isValid && verdict.reasons.count == 1) }
        #expect(disturbed.map(\.isContended) == [true, true, true, false, false, false])
        #expect(
            disturbed.map(\.figures) == [
                .lowerBound, .lowerBound, .lowerBound, .notComparable, .notComparable, .lowerBound,
            ]
        )
    }

    @Test func saysWhatARunShowsWhereTheGeneratorSharesCores() {
        let summaries = [2, 1].map { count in
            verdict {
                $0.crowdedCoreCount = count
                $0.loopIdleShare = 0
                $0.serverWaitShare = 0.3
            }.summary
        }
        let start = "A lower bound: the service can do at least this much, as the generator shares"
        #expect(
            summaries == [
                "\(start) 2 cores with it. For a figure to compare, run loadgen on another machine, or "
                    + "give each cores of its own (taskset -c 0 feed-service --threads 1; taskset "
                    + "-c 1 loadgen).",
                "\(start) 1 core with it. For a figure to compare, run loadgen on another machine.",
            ]
        )
    }

    @Test func saysWhatElseHeldARunUp() {
        #expect(verdict { $0.loopIdleShare = 0 }.summary?.contains("more --threads") == true)
        #expect(verdict { $0.stealShare = 0.5 }.summary?.contains("quiet machine") == true)
        #expect(verdict { $0.drift = 0.5 }.summary?.contains("run longer") == true)
        #expect(verdict { $0.slip99AndResponse99 = (2e6, 1e7) }.summary?.contains("part") == true)
    }

    /// A service that stalls: its connections are full, and the loop sleeps.
    @Test func tellsRequestsWithoutRoomFromALateLoop() {
        let full = verdict { inputs in
            inputs.loopIdleShare = 0.97
            inputs.slip99AndResponse99 = (9e8, 1e9)
            inputs.loopLate99 = 1e5
        }
        #expect(full.bound == .none && full.figures == .notComparable)
        #expect(full.reasons.count == 1)
        #expect(full.reasons.first?.hasPrefix("No connection had room for requests") == true)
        #expect(full.summary?.contains("more --clients or --pipeline") == true)
        let late = verdict { inputs in
            inputs.slip99AndResponse99 = (9e8, 1e9)
            inputs.loopLate99 = 2e8
        }
        #expect(late.bound == .client)
        #expect(
            late.reasons == [
                "The generator's loop was late (p99 200 ms), by more than 10% of the response time "
                    + "(p99 1000 ms)."
            ]
        )
    }

    @Test func speaksOfNoLowerBoundWhereAPlanSaysTheRate() {
        let changes: [(inout Verdict.Inputs) -> Void] = [
            { $0.loopIdleShare = 0 }, { $0.stealShare = 0.5 },
            {
                $0.loopIdleShare = 0
                $0.serverThreadShare = 1
            },
            {
                $0.loopIdleShare = 0
                $0.crowdedCoreCount = 2
            },
        ]
        for change in changes {
            let open = verdict {
                change(&$0)
                $0.offeredAndAchieved = (1000, 1000)
            }
            #expect(open.figures == .notComparable)
            let text = ([open.summary ?? ""] + open.reasons).joined().lowercased()
            #expect(!text.contains("lower bound") && !text.contains("at least"), "\(text)")
            #expect(verdict(change).figures == .lowerBound)
        }
    }

    @Test func saysThatItHasFewSamples() {
        let few = verdict { $0.sampleCount = 999 }
        #expect(few.figures == .notComparable)
        #expect(few.reasons.first?.hasPrefix("Only 999 measured requests were answered") == true)
        #expect(verdict { $0.sampleCount = 1000 }.isValid)
    }

    @Test func comparesNoRunThatLostSomething() {
        for lossy in [
            verdict { $0.lostConnectionCount = 1 },
            verdict { ($0.unansweredCount, $0.sentCount) = (2, 10_001) },
        ] {
            #expect(!lossy.isValid)
            #expect(lossy.figures == .notComparable)
            #expect(lossy.reasons.count == 1)
            #expect(lossy.summary?.contains("answers are missing") == true)
        }
    }

    @Test func allowsAnAnswerThatIsMissing() {
        #expect(verdict { ($0.unansweredCount, $0.sentCount) = (1, 10_001) }.isValid)
    }

    /// A random plan may have fewer requests than its rate says.
    @Test func allowsAPlanItsChance() {
        let chance = verdict {
            $0.offeredAndAchieved = (1000, 980)
            $0.chanceOfPlan = 11
        }
        #expect(chance.isValid)
        let missed = verdict {
            $0.offeredAndAchieved = (1000, 978)
            $0.chanceOfPlan = 11
        }
        #expect(!missed.isValid)
    }
}
