import LoadGen

extension RunConfiguration {
    /// Refuses the flags that mean nothing to redis-server.
    func refuseFlagsOfTheFeed(_ options: Options) throws(FlagError) {
        let given: [(flag: String, value: String?)] = [
            ("--feed", options.feed),
            ("--voters", voterCount > 0 ? options.voters : nil),
            ("--verify-only", options.verifyOnly),
            ("--batch", batchVoteCount > 1 ? options.load.batch : nil),
            ("--retry", retryLimit > 0 ? options.load.retry : nil),
            ("--service-key-file", options.load.serviceKeyFile),
            ("--tls", options.load.tls ? "--tls" : nil),
            ("--cleanup", isCleanedUp ? "--cleanup" : nil),
            ("--split", options.load.split ? "--split" : nil),
            (
                "--reconnect-every",
                options.load.reconnectEvery == "0" ? nil : options.load.reconnectEvery
            ),
            ("--conn-life", options.load.connLife == "0" ? nil : options.load.connLife),
        ]
        for case (let flag, let value?) in given {
            throw FlagError(
                flag: flag,
                expected: "none with --protocol resp, which has no such thing",
                actual: value
            )
        }
        if mix.operations.contains(.create) {
            throw FlagError(
                flag: "--mix",
                expected: "vote, list, page and get with --protocol resp",
                actual: options.mix
            )
        }
    }
}
