internal import ArgumentParser
internal import FeedAccounts
internal import FeedState

/// Names the accounts of an old state that a newer one has deleted, so that they can be deleted again.
struct DeletedAccountsOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Name the accounts that this newer data directory, which no service uses, or backup has "
                + "deleted since.",
            valueName: "directory"
        )
    )
    var newer: String?

    /// Names those of an old state, if a newer one was typed.
    func name(in accounts: KnownAccounts) throws {
        guard let newer else { return }
        do throws(StateStartError) {
            Self.name(in: accounts, try KnownAccounts.read(path: newer))
        } catch {
            throw ServiceStartError.refused(StartRefusal(error, directory: newer))
        }
    }

    /// Names those of a directory that was restored; without a newer state that was typed, by the one
    /// that the backup is of, if it can be read.
    func name(of directory: String, after source: String?) throws {
        guard let newer = newer ?? source else { return }
        do throws(StateStartError) {
            Self.name(
                in: try KnownAccounts.read(path: directory),
                try KnownAccounts.read(path: newer)
            )
        } catch {
            if self.newer != nil {
                throw ServiceStartError.refused(StartRefusal(error, directory: newer))
            }
            print(
                "which accounts were deleted since is not known, as \(newer) was not read: later type "
                    + "feed-service verify \(directory) --newer \(newer)"
            )
        }
    }

    private static func name(in accounts: KnownAccounts, _ newer: KnownAccounts) {
        for (id, erasure) in accounts.deleted(in: newer) {
            let flag = erasure == .author ? " --keep-posts" : ""
            print("account \(id) was deleted since: type feedctl delete-user \(id)\(flag)")
        }
    }
}
