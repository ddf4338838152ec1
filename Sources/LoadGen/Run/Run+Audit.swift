import FeedTransport

extension Run {
    /// Asks the service what it counted, over a connection that is not a minute old.
    func audit() {
        guard configuration.isVerified else {
            result.audit = .skipped
            return finish()
        }
        if configuration.progressInterval != nil { showProgress("auditing") }
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
            feed: configuration.feed,
            accounts: knowledge.accounts,
            expectation: FeedWalk.Expectation(
                scores: [:],
                createdIDs: knowledge.createdIDs,
                unknownTitles: knowledge.unknownTitles,
                startMilliseconds: startMilliseconds
            ),
            summary: knowledge.summary,
            completion: { [unowned self] in end($0) }
        )
        self.reading = reading
        reading.start()
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
