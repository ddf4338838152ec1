import FeedConcurrency
import FeedTransport

/// Watches the CPU time of the service, of the generator and of the machine.
package struct Probe {
    /// The values seen at one instant; nil where a value could not be seen.
    package struct Sample {
        /// When.
        var instant: MonotonicInstant
        /// The service.
        var server: ProcessSample?
        /// This process.
        var generator: ProcessSample?
        /// Everything.
        var machine: MachineSample?
    }

    /// The service's process, once it is known.
    private(set) var serverPID: Int?
    private var start: Sample?
    private var end: Sample?

    /// A probe that looks at process `serverPID`, or finds it.
    init(serverPID: Int?) {
        self.serverPID = serverPID
    }

    /// Looks for the service among the processes of this machine, unless it was named.
    mutating func findServer(_ address: SocketAddress) {
        guard serverPID == nil, address.isLoopback else { return }
        serverPID = ServerProcess.find(port: address.port)
    }

    /// The measured time begins.
    mutating func startMeasuring() {
        start = sample()
    }

    /// The measured time ends; later calls change nothing.
    mutating func stopMeasuring() {
        if start != nil && end == nil { end = sample() }
    }

    /// The values that can be seen now.
    func sample() -> Sample {
        Sample(
            instant: MonotonicInstant.now,
            server: serverPID.flatMap { ProcessSample(of: "\($0)") },
            generator: ProcessSample(of: "self"),
            machine: MachineSample()
        )
    }

    /// What was used between two samples.
    static func usage(
        from start: Sample,
        to end: Sample
    ) -> (server: ProcessUsage?, generator: ProcessUsage?, machine: MachineUsage?) {
        let seconds = Double(end.instant.duration(since: start.instant).nanoseconds) / 1e9
        func difference(_ one: ProcessSample?, _ other: ProcessSample?) -> ProcessUsage? {
            guard let one, let other else { return nil }
            return ProcessUsage(from: one, to: other, intervalSeconds: seconds)
        }
        var machine: MachineUsage?
        if let first = start.machine, let last = end.machine {
            machine = MachineUsage(from: first, to: last)
        }
        return (
            difference(start.server, end.server), difference(start.generator, end.generator),
            machine
        )
    }

    /// What the service used in the measured time.
    var server: ProcessUsage? { measured?.server }
    /// What this process used in the measured time.
    var generator: ProcessUsage? { measured?.generator }
    /// What the machine did in the measured time.
    var machine: MachineUsage? { measured?.machine }

    private var measured: (server: ProcessUsage?, generator: ProcessUsage?, machine: MachineUsage?)?
    {
        guard let start, let end else { return nil }
        return Self.usage(from: start, to: end)
    }
}
