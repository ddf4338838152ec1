internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The shared parts of all calls of one loop.
struct CallEnvironment {
    /// The posts, feeds and votes.
    let store: FeedStore
    /// Takes the log entries of the loop; every change is in a transaction of it.
    let changeLog: ChangeLog
    /// The context of all loops.
    let context: ServiceContext
    /// The counts of the loop.
    let counters: LoopCounters
    /// The lines for operators.
    let log: ServiceLog
    /// The rules of texts; made when they are asked for, so that a copy of the environment, which a read
    /// takes several of, has five references and no limits.
    var rules: TextRules { TextRules(limits: context.limits) }

    /// The environment of the calls of one loop.
    init(
        store: FeedStore,
        changeLog: ChangeLog,
        context: ServiceContext,
        counters: LoopCounters,
        log: ServiceLog
    ) {
        self.store = store
        self.changeLog = changeLog
        self.context = context
        self.counters = counters
        self.log = log
    }

    /// Refuses a request that needs no execution, before anything is looked up.
    ///
    /// - Parameters:
    ///   - frame: The request.
    ///   - method: Its method.
    ///   - caller: The caller.
    ///   - waited: How long it has waited for its loop iteration; nil is not at all.
    /// - Throws: The refusal: its time is over, its state is newer, it names a user though its caller is no
    ///   service, or its sequence is of no change.
    func checkEnvelope(
        of frame: borrowing ClientFrame,
        _ method: Method,
        from caller: borrowing Caller,
        waited: Duration?
    ) throws(Status) {
        if let waited {
            let timeout = context.timeout(milliseconds: frame.timeoutMilliseconds)
            guard waited <= timeout else { throw .deadlineExceeded(waited: waited, timeout) }
        }
        if frame.minimumRevision != 0 {
            let revision = store.revision
            guard frame.minimumRevision <= revision else {
                throw .stateIsOlder(wanted: frame.minimumRevision, revision: revision)
            }
        }
        try checkActing(for: frame.actingUserID, caller)
        guard frame.sequence == 0 || method.takesSequence || method == .unknown else {
            throw .sequenceOfRead(frame.sequence)
        }
    }

    /// Whether the service takes changes now; votes may pass on the fast path then.
    var takesChanges: Bool { context.changeRefusal == nil }

    /// Refuses a change while the service takes none.
    ///
    /// A repeat of an earlier change is answered without this check.
    func admitChange() throws(Status) {
        guard let refusal = context.changeRefusal else { return }
        context.count(refusal)
        throw refusal.status
    }

    /// The revision that an answer names; 0 while a commit stands still, as the newest may be lost.
    var shownRevision: UInt64 { context.stalls.isCommitStalled ? 0 : store.revision }

    /// Refuses a call while a commit stands still, unless its answer shows nothing of the state.
    func requireNoStall(_ method: Method) throws(Status) {
        guard context.stalls.isCommitStalled, !method.isAnsweredInStall else { return }
        throw context.stallRefusal.status
    }

    /// Refuses a caller whose role the authorisation table does not admit to the call.
    func checkAccess(of caller: borrowing Caller, to method: Method) throws(Status) {
        let role = caller.role
        guard method.access.admits(role) else { throw .denied(method, role) }
    }

    /// Checks the number of items of a batch.
    func checkBatch(_ count: Int, field: String, limit: Int) throws(Status) {
        guard (1...limit).contains(count) else {
            throw .batchSize(count, field: field, limit: limit)
        }
    }
}
