import FeedProto
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
        let control = makeControl(isPersistent: true)
        control.open(address, timeout: configuration.connectTimeout) { [unowned self] answer in
            switch answer {
            case .success(.hello(let hello)) where hello.instanceID == instanceID: read(control)
            case .success(.hello(let hello)): end(foundAnotherState: hello.instanceID)
            case .success: end(.failure(.unexpected))
            case .failure(let error): end(.failure(error))
            }
        }
    }

    /// Audits the record of an earlier run again.
    func verify(_ record: RunRecord, _ hello: HelloResponse, _ control: ControlConnection) {
        knowledge = AuditKnowledge(record)
        instanceID = record.instanceID
        startMilliseconds = record.startMilliseconds
        result.configuration.feed = record.feed
        result.configuration.postCount = record.posts.count
        if hello.instanceID == record.instanceID {
            read(control)
        } else {
            end(foundAnotherState: hello.instanceID)
        }
    }

    /// Ends with a failed audit: another state has nothing of the run, acknowledged or not.
    private func end(foundAnotherState found: UInt64) {
        var summary = knowledge.summary
        summary.findings.note(
            .otherState,
            """
            The service has another state than in the run: instance \(RunRecord.name(found)) \
            instead of \(RunRecord.name(instanceID ?? 0)), which is a fresh or a restored one.
            """
        )
        end(.success(summary))
    }

    private func read(_ control: ControlConnection) {
        let reading = AuditReading(
            control,
            loop: loop,
            lists: dataset?.lists ?? record?.lists ?? [workloadList],
            accounts: knowledge.accounts,
            summary: knowledge.summary,
            checkContent: { [dataset] post, findings in dataset?.check(post, &findings) },
            completion: { [unowned self] in end($0) }
        )
        reading.start()
    }

    /// The feed of a run, which may have had posts before.
    private var workloadList: AuditedList {
        AuditedList(
            feed: record?.feed ?? configuration.feed,
            expectation: FeedWalk.Expectation(
                scores: [:],
                createdIDs: knowledge.createdIDs,
                unknownTitles: knowledge.unknownTitles,
                startMilliseconds: startMilliseconds,
                endMilliseconds: record?.endMilliseconds ?? .max
            )
        )
    }

    private func end(_ answer: Result<AuditSummary, ControlError>) {
        switch answer {
        case .success(let summary): result.audit = .done(summary)
        case .failure(let error): result.audit = .impossible(error.description)
        }
        finish()
    }
}
