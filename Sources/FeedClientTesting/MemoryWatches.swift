internal import FeedCalls
internal import FeedClient
internal import FeedProto
internal import FeedRanking

/// A watch of a client, and what it has been shown.
struct MemoryWatch {
    let request: WatchPostsRequest
    /// Whose ballots and marks the posts show.
    let actingUserID: UserID
    var caller: MemoryCaller
    /// What it has been shown; nil where it is to be shown everything.
    var shown: Shown?
    /// The copy that the mailbox gets.
    var copy: WatchCopy
    /// Where the copy goes.
    let mailbox: WatchMailbox

    struct Shown {
        /// The ids in their order.
        var ids: [PostID]
        /// The posts that were created in the list until then.
        var createdCount: UInt64
    }

    /// The watched posts at a moment.
    struct Reading {
        /// The posts in their order.
        var posts: [Post]
        /// The posts that were created in the list until then.
        var createdCount: UInt64 = 0
    }

    /// Shows what has changed; nothing where nothing has.
    ///
    /// A post without a change stays as it was shown: a mark alone is none.
    mutating func show(_ reading: Reading, revision: UInt64) {
        let ids = reading.posts.map(\.id)
        var event = WatchPostsEvent()
        event.isReset = shown == nil
        event.changed = reading.posts.filter { post in
            event.isReset || copy[post.id]?.revision != post.revision
        }
        let current = Set(ids)
        event.removedIDs = shown?.ids.filter { !current.contains($0) } ?? []
        event.newPostCount = UInt32(
            clamping: reading.createdCount - (shown?.createdCount ?? reading.createdCount)
        )
        if shown?.ids != ids, request.postIDs.isEmpty { event.ranking = ids }
        guard event != WatchPostsEvent() else { return }
        copy.apply(event, revision: revision, isFirst: event.isReset)
        shown = Shown(ids: ids, createdCount: reading.createdCount)
        mailbox.put(copy)
    }
}

/// Watches, which are shown each change at once: the interval is not read.
extension MemoryState {
    /// Begins a watch under a number of its own, and shows what there is.
    mutating func beginWatch(_ number: UInt64, _ begun: MemoryWatch) throws(Status) {
        var watch = begun
        watch.caller = asKnown(watch.caller)
        let limit = rules.limits.maximumWatchesPerConnection
        guard watches.values.count(where: { $0.caller.number == watch.caller.number }) < limit
        else { throw .tooManyWatches(ofConnection: limit) }
        try checkActing(for: watch.actingUserID, watch.caller)
        let reading = try read(watch)
        watches[number] = watch
        watches[number]?.show(reading, revision: store.revision)
    }

    /// Shows what a call has changed to all watches, in the order in which they have begun.
    mutating func showWatches() {
        for number in watches.keys.sorted() {
            guard let watch = watches[number] else { continue }
            do throws(Status) {
                let reading = try read(watch)
                watches[number]?.show(reading, revision: store.revision)
            } catch {
                watches[number] = nil
                watch.mailbox.end(.refused(error))
            }
        }
    }

    /// Begins the watches of a client anew where they are somebody else's now.
    mutating func adopt(_ caller: MemoryCaller) {
        for number in watches.keys.sorted() where watches[number]?.caller.number == caller.number {
            guard watches[number]?.caller.token != caller.token else { continue }
            watches[number]?.caller = caller
            watches[number]?.shown = nil
        }
    }

    /// Ends a watch that its reader gave up.
    mutating func endWatch(_ number: UInt64) { watches[number] = nil }

    mutating func endWatches(of caller: MemoryCaller, _ error: FeedClientError) {
        for (number, watch) in watches where watch.caller.number == caller.number {
            watches[number] = nil
            watch.mailbox.end(error)
        }
    }

    private mutating func read(_ watch: MemoryWatch) throws(Status) -> MemoryWatch.Reading {
        let call = MemoryCall(minimumRevision: 0, actingUserID: watch.actingUserID)
        let viewer: VoterKey?
        do throws(Status) {
            viewer = try self.viewer(of: watch.caller, call)
        } catch {
            if error.reason == .sessionExpired {
                endedTokens[watch.caller.number] = watch.caller.token
                watch.caller.user.set(nil)
            }
            throw error
        }
        var missing: [PostID] = []
        switch try rules.subject(of: watch.request, for: viewer) {
        case .posts(let ids):
            return MemoryWatch.Reading(posts: posts(ids, viewer, &missing))
        case .list(let watched, let topCount):
            let list = watched.list
            var first = FirstPosts()
            var allowance = RefreshAllowance(keyCount: .max)
            while !store.readFirstPosts(
                of: list.feed,
                list.order,
                list.window,
                count: topCount,
                filter: watched.filter,
                viewer: watched.viewer,
                into: &first,
                allowance: &allowance
            ) {}
            return MemoryWatch.Reading(
                posts: posts(first.posts.map(\.id), viewer, &missing),
                createdCount: first.createdCount
            )
        }
    }
}
