import FeedClient
import FeedProto
import FeedRanking

extension PostList {
    /// The time that the list's posts were created after, where it is read at `milliseconds`; nil is any.
    func windowStart(at milliseconds: Int64) -> Int64? {
        // The service's windows have the numbers of the contract.
        FeedRanking.Window(rawValue: UInt8(clamping: window.rawValue))
            .map { milliseconds - $0.milliseconds }
    }
}
