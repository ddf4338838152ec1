/// The place of a sweep through the marks of all viewers: where the next step begins.
package struct MarkSweep: Sendable {
    /// The marks that a step looks at, and those of one viewer beyond it.
    static let stepMarkCount = 2_048

    var shard = 0
    var place = 0

    /// A sweep that begins with the first viewer.
    package init() {}
}
