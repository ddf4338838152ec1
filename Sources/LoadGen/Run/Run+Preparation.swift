import FeedProto
import FeedTransport

extension Run {
    /// Opens the connection for everything but the load.
    func reachService() {
        let control = makeControl(isPersistent: record != nil)
        control.open(address, timeout: configuration.connectTimeout) { [unowned self] answer in
            switch answer {
            case .success(.hello(let hello)): greeted(hello, control)
            case .success: fail(answer, while: "greeting")
            case .failure(let error):
                fail(.unreachable(target: configuration.target, cause: error.description))
            }
        }
    }

    /// A new connection for everything but the load.
    func makeControl(isPersistent: Bool) -> ControlConnection {
        if let control { result.totals.retries = result.totals.retries + control.retries }
        control?.close()
        let retrying = clientID.map {
            ControlConnection.Retrying(
                clientID: $0,
                limit: configuration.retryLimit,
                isPersistent: isPersistent
            )
        }
        let control = ControlConnection(on: loop, retrying: retrying)
        self.control = control
        return control
    }

    private func greeted(_ hello: HelloResponse, _ control: ControlConnection) {
        greeted = (hello.serverTimeMilliseconds, EventLoop.clock)
        if let record { return verify(record, hello, control) }
        instanceID = hello.instanceID
        if clientID != nil {
            guard hello.capabilities.contains(.exactlyOnce) else { return fail(.noExactlyOnce) }
            if let window = hello.limits?.sequenceWindow, window < configuration.pipelineDepth {
                return fail(.shortSequenceWindow(window, pipeline: configuration.pipelineDepth))
            }
        }
        if let limit = hello.limits?.maximumBatchVoteCount, limit < configuration.batchVoteCount {
            return fail(.smallBatchLimit(limit, batch: configuration.batchVoteCount))
        }
        lookAtFeed(control)
    }

    private func lookAtFeed(_ control: ControlConnection) {
        probe.findServer(address)
        result.serverPID = probe.serverPID
        control.call(.listFeeds) { [unowned self] answer in
            guard case .success(.listFeeds(let response)) = answer else {
                return fail(answer, while: "listing the feeds")
            }
            if let dataset { return prepare(dataset, control, response.feeds) }
            guard let feed = response.feeds.first(where: { $0.name == configuration.feed }) else {
                return fail(.noFeed(configuration.feed))
            }
            guard feed.voteMode == .tally else { return fail(.ballotFeed(configuration.feed)) }
            createPosts(control)
        }
    }

    private func createPosts(_ control: ControlConnection) {
        let total = NumberFormat.count(UInt64(configuration.postCount))
        let prefill = Prefill(
            control,
            feed: configuration.feed,
            postCount: configuration.postCount,
            progress: { [unowned self] count in
                guard configuration.progressInterval != nil else { return }
                showProgress("creating posts  \(NumberFormat.count(UInt64(count))) of \(total)")
            },
            completion: { [unowned self] prefill, error in
                startMilliseconds = prefill.startMilliseconds
                if let error { return prefillEnded(prefill, error) }
                startWorkload(prefill.ids)
            }
        )
        prefill.start()
    }

    private func prefillEnded(_ prefill: Prefill, _ error: ControlError) {
        let partial = prefill.partial
        preparationEnded(
            .failure(error),
            while: "creating posts",
            AuditKnowledge(postIDs: partial.ids, unknownTitles: partial.unknownTitles)
        )
    }

    /// Ends the run before its load; the posts made so far are still reported, for a later audit.
    func preparationEnded(
        _ answer: Result<FeedProto.Response, ControlError>,
        while step: String,
        _ knowledge: AuditKnowledge
    ) {
        guard !knowledge.accounts.isEmpty else { return fail(answer, while: step) }
        self.knowledge = knowledge
        result.audit = .impossible(Self.failure(answer, while: step).description)
        finish()
    }

    private func startWorkload(_ postIDs: [UInt64]) {
        knowledge = AuditKnowledge(postIDs: postIDs)
        let keys = KeyChoice(
            configuration.keys,
            postCount: postIDs.count,
            seed: configuration.seed
        )
        result.hottestShare = keys.hottestShare
        startThreads(postIDs: postIDs, keys: keys)
    }

    /// Starts the threads; `schedule` makes the votes of each thread where they are planned.
    func startThreads(
        postIDs: [UInt64],
        keys: KeyChoice,
        tallied: Tallied = .scores,
        schedule: (Int) -> VoteSchedule? = { _ in nil }
    ) {
        let run = LoopBound(self, to: loop.mailbox)
        let identity = clientID.flatMap { clientID in
            instanceID.map { RunIdentity(clientID: clientID, instanceID: $0) }
        }
        var firstClient = 0
        for thread in 0..<configuration.threadCount {
            let count = configuration.clientCount / configuration.threadCount
            let isLarger = thread < configuration.clientCount % configuration.threadCount
            let setup = WorkerSetup(
                configuration: configuration,
                address: address,
                thread: thread,
                firstClient: firstClient,
                clientCount: count + (isLarger ? 1 : 0),
                postIDs: postIDs,
                keys: keys,
                tallied: tallied,
                schedule: schedule(thread),
                identity: identity,
                report: { event in run.post { $0.receive(event) } }
            )
            firstClient += setup.clientCount
            start(setup, run)
        }
    }

    private func start(_ setup: WorkerSetup, _ run: LoopBound<Run>) {
        do {
            try threads.start(setup, Self.transport) { worker in
                run.post { $0.threads.add(worker) }
            }
        } catch {
            fail(.system(error.description))
        }
    }

    /// Ends the run before its load, because an answer is unusable.
    func fail(
        _ answer: Result<FeedProto.Response, ControlError>,
        while step: String
    ) {
        fail(Self.failure(answer, while: step))
    }

    private static func failure(
        _ answer: Result<FeedProto.Response, ControlError>,
        while step: String
    ) -> RunFailure {
        switch answer {
        case .failure(.lost): .connectionLost(step: step)
        case .failure(.unreachable(let error)):
            .unreachableAgain(step: step, cause: error.description)
        case .failure(let error): .refused(step: step, cause: error.description)
        case .success: .refused(step: step, cause: ControlError.unexpected.description)
        }
    }
}
