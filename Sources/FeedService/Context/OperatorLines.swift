package import FeedJournal
package import FeedState
internal import FeedTLS
package import FeedTransport

/// The log lines of a running service; `docs/OPERATIONS.md` shows the same text.
package enum OperatorLines {
    /// The time of day has left where the monotonic clock says it should be, or is back.
    package static func clock(_ news: ClockWatch.News) -> String {
        switch news {
        case .agrees: "the clock is back: changes are taken again"
        case .jumped(let milliseconds):
            "the clock jumped by \(milliseconds / 1000) s: changes are refused until it is back, or "
                + "the service is started anew"
        case .corrected(let milliseconds):
            "the clock was set by \(Double(milliseconds) / 1000) s and is followed; where that is "
                + "back, new posts have one and the same time until it has caught up"
        }
    }

    /// A start has found posts that lie ahead of the clock by more than a lead.
    package static func postsAhead(_ count: Int, lead: Duration) -> String {
        "\(count) \(count == 1 ? "post lies" : "posts lie") more than \(lead) ahead of the clock: "
            + "this clock is wrong, or it was before; new posts get the time of this clock. If this "
            + "clock is right, type: feedctl correct-times --apply"
    }

    package static func serviceKeys(_ keys: [ServiceKey]) -> String {
        "\(keys.count) service \(keys.count == 1 ? "key is" : "keys are") valid: "
            + keys.map { key in
                key.role == .service ? key.name : "\(key.name) (\(key.role.rawValue))"
            }.joined(separator: ", ")
    }

    package static func serviceKeysKept(_ cause: String) -> String {
        "the service keys stay as they were: \(cause)"
    }

    /// SIGHUP came, and the service has no file that it would read again.
    package static var hangUpWithoutKeys: String {
        "SIGHUP reads the service keys and the TLS certificate again; there is no --listen-tls, and "
            + "there is no --service-keys: nothing has changed"
    }

    package static var drainCalled: String {
        "draining, as an operator has asked: connections finish what they asked for"
    }

    /// What stands still, and for how long; a commit with what it waits for.
    package static func stall(
        _ subject: Stalls.Subject,
        _ time: Duration,
        _ wait: CommitWait = .disk
    ) -> String {
        let seconds = Int(time / .seconds(1))
        return switch subject {
        case .commit:
            switch wait {
            case .disk: "a commit has stood still for \(seconds) s: the disk does not answer"
            case .majority(let record):
                "no majority has confirmed record \(record) for \(seconds) s: see feedctl cluster status"
            }
        case .checkpoint:
            "a checkpoint has stood still for \(seconds) s: the disk of state.db does not answer; the "
                + "journal keeps what waits"
        case .backup:
            "a backup has stood still for \(seconds) s: the disk of backups/, or of state.db, does not answer"
        case .loop(let number): "event loop \(number) has stood still for \(seconds) s"
        }
    }

    /// A line about what has begun to stand still, or goes on.
    package static func stall(_ news: Stalls.News, _ wait: CommitWait = .disk) -> String {
        switch news {
        case .stands(let subject, let time): stall(subject, time, wait)
        case .goesOn(.commit, let time): "commits go on, after \(Int(time / .seconds(1))) s"
        case .goesOn(.checkpoint, let time): "checkpoints go on, after \(Int(time / .seconds(1))) s"
        case .goesOn(.backup, let time): "the backup goes on, after \(Int(time / .seconds(1))) s"
        case .goesOn(.loop(let number), let time):
            "event loop \(number) goes on, after \(Int(time / .seconds(1))) s"
        }
    }

    /// A commit took long.
    package static func slowCommit(_ time: Duration, isOfCluster: Bool) -> String {
        "a commit took \(Int(time / .milliseconds(1))) ms: "
            + (isOfCluster
                ? "a majority is slow to confirm records, see feedctl cluster status"
                : "the disk is slow")
    }

    /// News of the room on the disk of a data directory.
    package static func space(_ news: SpaceNews, _ directory: String) -> String {
        switch news {
        case .full(let free, let writable):
            "the disk of \(directory) is nearly full, \(size(free)) are free: changes are refused "
                + "until \(size(writable)) are free, reads are served"
        case .hasRoom(let free):
            "the disk of \(directory) has room again, \(size(free)) are free: changes are taken"
        case .droppedSegments(let count):
            "the disk of \(directory) runs low: \(count) of the segments that --journal-keep has kept "
                + "\(count == 1 ? "was" : "were") removed, the oldest first"
        case .gaveUpBallast:
            "the disk of \(directory) was full: the ballast was given up, to write what was taken "
                + "before"
        }
    }

    /// The service follows a leader, whose address is known or not.
    package static func follows(_ leader: String?) -> String {
        leader.map { "follows the leader at \($0)" } ?? "follows, and knows of no leader"
    }

    package static func leads(inTerm term: UInt64) -> String {
        "leads the cluster, in term \(term): changes are taken"
    }

    /// The service does not lead its cluster any more, and ends.
    package static func deposed(_ deposition: Deposition, _ leader: String?) -> String {
        let place = leader.map { ", the leader is at \($0)" } ?? ""
        return "stopped: \(deposition)\(place); it is to be started again, to follow"
    }

    /// News of the session with the replica.
    package static func replica(_ news: ReplicaNews) -> String {
        switch news {
        case .connected(let node, let committed):
            "feed-replica is reached: node \(hexadecimal(node)), record \(committed) is committed"
        case .disconnected(let words): "feed-replica is not reached, and tried again: \(words)"
        case .refused(let words): "feed-replica refuses: \(words)"
        case .givesCopy(let record):
            "feed-replica sends the state at record \(record) to another node"
        case .givesNoCopy(let words): "feed-replica gets no copy of the state: \(words)"
        case .clockIsBehind(let microseconds):
            "the clock is \(Duration.microseconds(microseconds)) behind the last record of the leader "
                + "before: it is wrong, or that one was; new posts get that record's time until then"
        }
    }

    /// The directory has no state yet.
    package static func waits(_ directory: String) -> String {
        "\(directory) has no state: waits for that of the cluster, which feed-replica receives"
    }

    /// A state of another node is to take the place of the directory's own.
    package static func installs(_ record: UInt64) -> String {
        "the cluster's log goes on behind what this node has: the state at record \(record) is copied and "
            + "checked, and reads are refused"
    }

    /// A state of another node has taken the place of the directory's own.
    package static func installed(_ record: UInt64) -> String {
        "the state of the cluster at record \(record) is in place; the one before is in quarantine, if "
            + "there was one"
    }

    /// The state can no more be made durable, and the service ends.
    package static func failed(_ error: StorageError, _ directory: String) -> String {
        let way =
            error.isDamage
            ? " The journal has all that was acknowledged and state.db lacks; to see the way back, type: "
                + "feed-service verify \(directory)" : ""
        return "stopped: the state can no more be made durable. \(error)\(way)"
    }

    /// The clock at a start is not where the last record of the journal has left it.
    package static func clockStep(_ step: ClockSteps.Step) -> String {
        let away = Duration.microseconds(step.distance)
        return step.isBack
            ? "the clock is \(away) behind the newest record of the journal: it is wrong, or it was before; "
                + "restore --at refuses moments of the time for which it was: use --at-revision there"
            : "the clock is \(away) after the newest record of the journal: if the service was not stopped "
                + "for so long, stop it and set the clock, else posts, backups and records get wrong times"
    }

    /// A start has accepted a loss, with the last record that is left and the files in quarantine.
    package static func acceptedLoss(_ left: UInt64, _ files: [String]) -> String {
        let kept =
            files.isEmpty
            ? "nothing was moved to quarantine"
            : "what is dropped is in quarantine: \(files.joined(separator: ", "))"
        return "a loss was accepted after record \(left), and the instance is a new one; \(kept)"
    }

    /// Bytes, and the same in MiB, rounded down.
    static func size(_ byteCount: Int) -> String { "\(byteCount) bytes (\(byteCount >> 20) MiB)" }
}

extension OperatorLines {
    /// The certificate that new connections are shown from now on.
    static func certificate(of files: TLSServerFiles, _ context: TLSContext) -> String {
        let end = context.expiry.map { ", valid until \($0)" } ?? ""
        return
            "new TLS connections get the certificate of \(files.certificate.certificatePath)\(end)"
    }

    /// The files of the certificate could not be read again.
    static func certificateKept(_ cause: String) -> String {
        "the TLS certificate stays as it was: \(cause)"
    }

    package static func insecure(_ addresses: [SocketAddress]) -> String {
        let list = addresses.map(\.description).joined(separator: ", ")
        return "--insecure: \(list) \(addresses.count == 1 ? "is" : "are") open to other machines "
            + "without encryption, or without a proof of who calls"
    }
}
