import FeedTransport

extension Run {
    /// Asks the service what it counted, over a connection that is not a minute old.
    func audit() {
        guard configuration.isVerified else {
            result.audit = .skipped
            return finish()
        }
        if configuration.progressInterval != nil { showProgress("auditing") }
        if result.isInterrupted { knowledge.dropPlan() }
        control?.close()
        let control = ControlConnection(on: loop)
        self.control = control
        control.open(address, timeout: configuration.connectTimeout) { [unowned self] answer in
            switch answer {
            case .success: read(control)
            case .failure(let error): end(.failure(error))
            }
        }
    }

    private func read(_ control: ControlConnection) {
        let reading = AuditReading(
            control,
            loop: loop,
            lists: dataset?.lists ?? [workloadList],
            accounts: knowledge.accounts,
            summary: knowledge.summary,
            checkContent: { [dataset] post, findings in dataset?.check(post, &findings) },
            completion: { [unowned self] in end($0) }
        )
        self.reading = reading
        reading.start()
    }

    /// The feed of a run, which may have had posts before.
    private var workloadList: AuditedList {
        AuditedList(
            feed: configuration.feed,
            expectation: FeedWalk.Expectation(
                scores: [:],
                createdIDs: knowledge.createdIDs,
                unknownTitles: knowledge.unknownTitles,
                startMilliseconds: startMilliseconds
            )
        )
    }

    private func end(_ answer: Result<AuditSummary, ControlError>) {
        switch answer {
        case .success(let summary): result.audit = .done(summary)
        case .failure(let error): result.audit = .impossible(error.description)
        }
        reading = nil
        finish()
    }
}
