/// When a disk counts as full; durability's only allowance for it.
package struct SpaceLimits: Equatable, Sendable {
    /// With less than this free nothing new is taken: 256 MiB.
    package var readOnlyByteCount = 256 << 20

    /// With this much free again all is as before: 512 MiB, well above, so as not to flap.
    package var resumeByteCount = 512 << 20

    /// What is kept to be deleted on a full disk, 64 MiB: more than is ever taken and not written.
    package var ballastByteCount = 64 << 20

    /// With less than this free no segment is kept that checkpoints need no more, 1 GiB: so they go
    /// before anything is refused.
    package var keptByteCount = 1 << 30

    /// The defaults.
    package init() {}
}
