internal import FeedClient
internal import FeedOffline
internal import Foundation

extension PersonOptions {
    /// Opens the offline file of the profile, and says where it had to be begun anew.
    func openOffline() async throws -> OfflineFeed {
        let folder = profile ?? Profile.defaultPath(ProcessInfo.processInfo.environment)
        var configuration = OfflineConfiguration(path: folder + "/offline.db", address: target)
        // Also makes the folder.
        configuration.client = try self.configuration()
        let feed = try await OfflineFeed.open(configuration)
        if let notice = feed.notice { Console.notify("feedctl: \(notice)\n") }
        return feed
    }
}
