import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The durable service on a disk whose calls fail.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: FaultInjector.isAvailable, Comment(rawValue: FaultInjector.absence))
)
struct DiskFaultTests {
    @Test("the injector makes the calls of a process fail", arguments: [true, false])
    func injectsFaults(_ fails: Bool) async throws {
        let directory = try TemporaryDirectory()
        let arguments = ["if=/dev/zero", "of=\(directory.path)/file", "count=1", "conv=fdatasync"]
        let program = try #require(Programs.command("dd"))
        let injector = FaultInjector(fails ? [.failingSync] : [])
        let process = try RunningProcess(program, arguments, environment: injector.environment)
        let (status, output) = await process.finish()
        injector.clear(process)
        #expect(status == (fails ? 1 : 0), "\(output)")
    }

    @Test(
        "T-DISK-3: a sync that fails ends the process, and nothing acknowledged is lost",
        .enabled(DurableService.absence, DurableService.isBuilt),
        arguments: [FaultInjector.Fault.failingSync, .failingWrites]
    )
    func stopsAtAFailedCommit(_ fault: FaultInjector.Fault) async throws {
        let directory = try TemporaryDirectory()
        let injector = FaultInjector()
        let service = try await DurableService.start(directory.path, faults: injector)
        defer { injector.clear(service.process) }
        let id = try await service.createPost("kept", votes: 50)
        let client = try await offload { [port = service.port] in try WireClient(port: port) }
        try await injector.begin(fault, in: service.process)
        let answers = try await offload {
            // Up to the end of the connection: an error of it is an end, too.
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            for _ in 0..<100 where (try? client.send(vote)) == nil { break }
            var answers: [ServerFrame] = []
            while let answer = try? client.receive() { answers.append(answer) }
            return answers
        }
        // Nobody knows whether the votes stand, so nobody says so.
        #expect(answers.count { $0.id != 0 } == 0, "\(answers)")
        #expect(await service.process.exitStatus() > 0)

        let restarted = try await DurableService.start(directory.path)
        let count = try await restarted.upvotes(id)
        #expect((50...150).contains(count), "\(count)")
        #expect(try await restarted.createPost("another", votes: 10) != id)
        #expect(await restarted.stop() == 0)
        let again = try await DurableService.start(directory.path)
        #expect(try await again.upvotes(id) == count)
        #expect(await again.stop() == 0)
    }

    @Test(
        "T-DISK-4: short and interrupted writes are made again",
        .enabled(DurableService.absence, DurableService.isBuilt),
        arguments: [FaultInjector.Fault.shortWrites, .interruptedWrites]
    )
    func retriesWrites(_ fault: FaultInjector.Fault) async throws {
        let directory = try TemporaryDirectory()
        let injector = FaultInjector([fault])
        let service = try await DurableService.start(directory.path, faults: injector)
        defer { injector.clear(service.process) }
        let id = try await service.createPost("kept", votes: 300)
        await service.kill()
        let restarted = try await DurableService.start(directory.path)
        #expect(try await restarted.upvotes(id) == 300)
        #expect(await restarted.stop() == 0)
    }
}
