internal import FeedClient
internal import FeedOffline

extension PersonOptions {
    /// Opens the offline file of the profile, and says where it had to be begun anew.
    ///
    /// With `connects` the service is going to be asked, which another one's session is not shown to.
    func openOffline(connects: Bool = false) async throws -> OfflineFeed {
        let settings = try target.settings()
        let profile = try Profile(path: target.folder)
        var configuration = OfflineConfiguration(
            path: profile.path + "/offline.db",
            address: settings.address
        )
        configuration.client = try self.configuration(profile, settings)
        if try !connects || isOwn(settings) {
            configuration.client.sessionStore = try profile.sessions()
        }
        let feed = try await OfflineFeed.open(configuration)
        if let notice = feed.notice { Console.notify("feedctl: \(notice)\n") }
        return feed
    }
}
