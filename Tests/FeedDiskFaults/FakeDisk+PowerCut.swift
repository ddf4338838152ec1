package import FeedTestSupport

extension FakeDisk {
    /// What is found when the power is back: of all that was not synced, any part.
    ///
    /// All that follows is drawn from the generator, so that a seed replays it.
    package func afterPowerCut(_ generator: inout SeededGenerator) -> FakeDisk {
        let fate = PowerCutFate(&generator)
        var found = durableEntries
        for change in changes where fate.keepsChange(&generator) {
            Self.apply(change, to: &found)
        }
        let disk = FakeDisk()
        disk.ignoresSyncs = ignoresSyncs
        for name in found.keys.sorted() {
            disk[name] = found[name]?.surviving(fate, &generator)
        }
        return disk
    }

    /// The same files, all durable, for another test to spoil.
    package func copy() -> FakeDisk {
        let disk = FakeDisk()
        for (name, content) in entries { disk[name] = content.bytes }
        return disk
    }
}
