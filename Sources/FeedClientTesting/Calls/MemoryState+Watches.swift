internal import FeedClient
internal import FeedProto
internal import FeedRanking

/// Watches, which are shown each change at once: the interval is not read.
extension MemoryState {
    /// Begins a watch under a number of its own, and shows what there is.
    mutating func beginWatch(_ number: UInt64, _ begun: MemoryWatch) throws(Status) {
        var watch = begun
        watch.caller = asKnown(watch.caller)
        let limit = MemoryLimits.watchCount
        guard watches.values.count(where: { $0.caller.number == watch.caller.number }) < limit
        else { throw .tooManyWatches(limit) }
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

    /// Ends the watches of a client, which is told why.
    mutating func endWatches(of caller: MemoryCaller, _ error: FeedClientError) {
        for (number, watch) in watches where watch.caller.number == caller.number {
            watches[number] = nil
            watch.mailbox.end(error)
        }
    }

    private mutating func read(_ watch: MemoryWatch) throws(Status) -> MemoryWatch.Reading {
        let call = MemoryCall(minimumRevision: 0, actingUserID: watch.actingUserID)
        let viewer: MemoryViewer
        do throws(Status) {
            viewer = try self.viewer(of: watch.caller, call)
        } catch {
            if error.reason == .sessionExpired {
                endedTokens[watch.caller.number] = watch.caller.token
            }
            throw error
        }
        let request = watch.request
        guard request.postIDs.isEmpty else {
            guard request.topCount == 0 else { throw .invalid(.badField, "post_ids") }
            let limit = MemoryLimits.watchIDCount
            try Self.checkBatch(request.postIDs.count, "post_ids", limit: limit)
            var seen: Set<UInt64> = []
            let ids = request.postIDs.filter { seen.insert($0).inserted }
            return MemoryWatch.Reading(posts: posts(ids.map(PostID.init(rawValue:)), viewer))
        }
        let limit = MemoryLimits.watchTopCount
        guard (1...limit).contains(Int(request.topCount)) else {
            let actual = UInt64(request.topCount)
            throw .invalid(.badField, "top_count", limit: limit, actual: actual)
        }
        let feed = request.feed.isEmpty ? nil : try feed(named: request.feed)
        let order = try order(request.order, in: feed)
        let window = try window(request.window, of: order)
        var first = FirstPosts()
        var allowance = RefreshAllowance(keyCount: .max)
        while !store.readFirstPosts(
            of: feed,
            order,
            window,
            count: Int(request.topCount),
            into: &first,
            allowance: &allowance
        ) {}
        return MemoryWatch.Reading(
            posts: posts(first.posts.map(\.id), viewer),
            createdCount: first.createdCount
        )
    }

    /// Those of the posts that exist, as a viewer sees them.
    private func posts(_ ids: [PostID], _ viewer: MemoryViewer) -> [Post] {
        guard !ids.isEmpty else { return [] }
        var page = PostPage()
        var missing: [PostID] = []
        let voter = voter(of: viewer)
        _ = store.posts(ids, voter: voter, missing: &missing, into: &page)
        page.apply(voter.flatMap { store.marks(of: $0) })
        return posts(of: page, viewer)
    }
}
