/// Decides from the free space whether new work may be taken.
package struct SpaceWatch: Equatable, Sendable {
    /// What the journal's owner may let in.
    package enum Mode: Equatable, Sendable {
        /// Everything.
        case writable

        /// Nothing that has to be journaled; what was taken before is still committed.
        case readOnly
    }

    /// What an observation asks for.
    enum Action: Equatable {
        /// Nothing.
        case none

        /// That the ballast be written, and success be told by ``SpaceWatch/ballastWritten()``.
        case writeBallast
    }

    /// Whether new work may be taken now.
    package private(set) var mode = Mode.readOnly

    private let limits: SpaceLimits
    private var hasBallast: Bool

    /// Whether the watch was writable once; before, it need not stay clear of flapping.
    private var hasStarted = false

    /// A watch that is read-only until the first observation.
    init(_ limits: SpaceLimits, hasBallast: Bool) {
        self.limits = limits
        self.hasBallast = hasBallast
    }

    /// The free bytes from which on new work is taken again, once it is not.
    var writableByteCount: Int {
        hasStarted
            ? limits.resumeByteCount
            : limits.readOnlyByteCount + (hasBallast ? 0 : limits.ballastByteCount)
    }

    /// Takes note of the space that is free now.
    mutating func observe(freeByteCount: Int) -> Action {
        switch mode {
        case .writable:
            if freeByteCount < limits.readOnlyByteCount { mode = .readOnly }
            return .none
        case .readOnly:
            guard freeByteCount >= writableByteCount else { return .none }
            guard hasBallast else { return .writeBallast }
            becomeWritable()
            return .none
        }
    }

    /// The ballast that was asked for is there.
    mutating func ballastWritten() {
        hasBallast = true
        becomeWritable()
    }

    /// The disk was full and the ballast is gone.
    mutating func ballastReleased() {
        hasBallast = false
        hasStarted = true
        mode = .readOnly
    }

    private mutating func becomeWritable() {
        hasStarted = true
        mode = .writable
    }
}
