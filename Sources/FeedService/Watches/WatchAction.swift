/// What a WatchPosts or a Cancel asks of the connection's loop, after the answers of the loop iteration.
enum WatchAction {
    /// Begin a watch.
    case begin(Watch)
    /// End the watch of a frame's id.
    case cancel(UInt64)
}
