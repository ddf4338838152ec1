internal import FeedConcurrency
internal import Foundation

extension TextStyle {
    /// The style of this moment and the terminal on standard output.
    static var current: TextStyle {
        let environment = ProcessInfo.processInfo.environment
        // The convention of no-color.org: any text but the empty one.
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return TextStyle(
            nowMilliseconds: SystemClock.unixMilliseconds(),
            columnCount: Terminal.columnCount,
            isBold: Terminal.isOutput && !isPlain
        )
    }
}
