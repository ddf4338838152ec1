internal import FeedClient
import FeedProto
import FeedTransport

extension ControlConnection: ConnectionHandler {
    /// Tries to connect.
    func connect() {
        guard !isEnded else { return }
        do throws(TransportError) {
            try loop.connect(to: address, timeout: connectTimeout, handler: self)
        } catch {
            lose(.unreachable(error))
        }
    }

    func connectionOpened(_ connection: TCPConnection) {
        guard !isEnded else { return connection.reset() }
        self.connection = connection
        nextID = 1
        var hello = HelloRequest(clientName: "loadgen")
        if let retrying {
            hello.clientID = retrying.clientID
            hello.channel = RunIdentity.controlChannel
        }
        send(Call(request: .hello(hello), sequence: 0) { [unowned self] in greeted($0) })
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while let body = try FrameScanner().nextBody(in: bytes, at: offset) {
                let frame = try decoder.decodeServerFrame(bytes.extracting(body))
                offset = body.upperBound
                receive(frame)
            }
        } catch {
            end(.unexpected)
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        if case .connectFailed(let error) = reason { return lose(.unreachable(error)) }
        lose(.lost)
    }

    private func receive(_ frame: ServerFrame) {
        lastProgress = EventLoop.clock
        guard let call = pending.removeValue(forKey: frame.id) else {
            if retrying != nil, case .goAway = frame.response { connection?.reset() }
            return
        }
        if call.isRepeated { repeatedInFlightCount -= 1 }
        defer { if repeatedInFlightCount == 0, isOpen { resume() } }
        if let status = frame.status {
            if !postpone(call, status) { call.completion(.failure(.refused(status))) }
        } else if let response = frame.response {
            // A greeting alone is no progress: the calls after it may end each connection.
            if frame.id > 1 { round = 0 }
            call.completion(.success(response))
        } else {
            call.completion(.failure(.unexpected))
        }
    }

    private func greeted(_ answer: Result<FeedProto.Response, ControlError>) {
        guard !isEnded else { return }
        guard case .success(.hello(let hello)) = answer else {
            return greetingFailed(answer)
        }
        let cause = numbers.resume(hello)
        if firstHello != nil {
            let mayForget = cause == .channelForgotten && !waiting.contains(where: \.isDoubtful)
            guard cause == nil || mayForget else {
                connection?.reset()
                return end(.forgotten)
            }
            retries.reconnectCount += 1
            retries.duplicateCount += UInt64(
                waiting.count { $0.isDoubtful && $0.sequence <= hello.lastSequence }
            )
        }
        resume()
        if firstHello == nil {
            firstHello = hello
            // Taken before the call, because the call may start something that ends this
            // connection.
            let completion = opened.take()
            completion?(answer)
        }
    }

    private func greetingFailed(_ answer: Result<FeedProto.Response, ControlError>) {
        // The next try may succeed, unless this was the first: a wrong address is reported at once.
        guard firstHello == nil, retrying?.isPersistent != true else {
            connection?.reset()
            return
        }
        if case .failure(let error) = answer { end(error) } else { end(.unexpected) }
    }

    /// Sends the waiting calls: repeated calls first, all others when those are answered.
    private func resume() {
        guard !isEnded, connection != nil else { return }
        isOpen = true
        guard !waiting.isEmpty else { return }
        let repeated = waiting.filter(\.isRepeated)
        let calls = repeated.isEmpty ? waiting : repeated
        waiting = repeated.isEmpty ? [] : waiting.filter { !$0.isRepeated }
        repeatedInFlightCount += repeated.count
        retries.retryCount += UInt64(repeated.count)
        for call in calls { send(call) }
    }

    /// The connection ended or never opened: tries again if a try is left.
    private func lose(_ error: ControlError) {
        guard !isEnded else { return }
        connection = nil
        isOpen = false
        repeatedInFlightCount = 0
        guard let retrying, firstHello != nil || retrying.isPersistent, round < retrying.limit
        else { return end(error) }
        round += 1
        // The greeting is not sent again with the calls; the next connection sends its own.
        let unanswered = pending.sorted { $0.key < $1.key }.map(\.value)
        if unanswered.contains(where: \.isGreeting) { numbers.lostGreeting() }
        let lost = unanswered.filter { !$0.isGreeting }
        pending = [:]
        waiting =
            lost.map { call in
                var call = call
                call.isRepeated = true
                call.isDoubtful = call.sequence > 0
                return call
            } + waiting
        pause { [weak self] in self?.connect() }
    }

    /// Keeps a call that the service refused for now; returns false where the refusal is final.
    private func postpone(_ refused: Call, _ status: Status) -> Bool {
        guard let retrying, status.isRetryable, !refused.isGreeting else { return false }
        var call = refused
        call.isRepeated = true
        guard status.reason != .draining else {
            waiting.append(call)
            connection?.reset()
            return true
        }
        if isOpen {
            guard round < retrying.limit else { return false }
            round += 1
            isOpen = false
            let connection = connection
            pause(atLeast: status.retryAfterMilliseconds) { [weak self] in
                // A connection that was opened since then sends the waiting calls itself.
                if let self, self.connection === connection { self.resume() }
            }
        }
        waiting.append(call)
        return true
    }
}

extension ControlConnection.Call {
    /// Whether it introduces the run.
    fileprivate var isGreeting: Bool {
        if case .hello = request { true } else { false }
    }
}
