extension RunResult {
    /// The number of cores that service and generator share, where they, or all programs of the
    /// machine, left less than a fifth of the time unused.
    ///
    /// It is nil where they share none or had room.
    package var crowdedCoreCount: Int? {
        guard let server, let generator, measuredSeconds > 0 else { return nil }
        let shared = server.cores.intersection(generator.cores)
        guard !shared.isEmpty else { return nil }
        let all = server.cores.union(generator.cores)
        let own = (server.seconds + generator.seconds) / measuredSeconds / Double(all.count)
        let whole = machine.map { $0.busyShare + $0.stealShare } ?? 0
        return max(own, whole) > 0.8 ? shared.count : nil
    }
}
