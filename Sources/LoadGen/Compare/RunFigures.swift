/// The figures of a run, as far as another run is compared with them.
package struct RunFigures: Sendable, Equatable {
    /// What the load was; figures of two runs are compared only where it is the same.
    package var settings: RunSettings
    /// The processor and its cores.
    package var machine: String
    /// Whether the run's own verdict lets its figures be compared.
    package var isComparable: Bool
    /// Operations answered in each whole measured second.
    package var rates: [Double]
    /// The 99th percentile of the response time of each of those seconds, in milliseconds.
    package var response99s: [Double]
    /// CPU-seconds of the server per million operations; nil where its process was not seen.
    package var serverCost: Double?

    /// Figures put together by hand.
    package init(
        settings: RunSettings,
        machine: String,
        isComparable: Bool,
        rates: [Double],
        response99s: [Double],
        serverCost: Double?
    ) {
        self.settings = settings
        self.machine = machine
        self.isComparable = isComparable
        self.rates = rates
        self.response99s = response99s
        self.serverCost = serverCost
    }
}

extension RunFigures {
    /// The text for a machine, which is equal only for equal ones.
    package static func machine(_ processor: String, _ coreCount: Int) -> String {
        "\(processor), \(coreCount) cores"
    }
}

/// The settings of a load that change its figures, with the flags that set them.
package struct RunSettings: Sendable, Equatable {
    /// The value of each flag, in the order of the help.
    package let values: [Value]

    /// One setting.
    package struct Value: Sendable, Equatable {
        /// The flag, with its dashes.
        package let flag: String
        /// Its value as text.
        package let text: String

        init(_ flag: String, _ text: String) {
            self.flag = flag
            self.text = text
        }
    }

    /// The settings of a run.
    package init(_ configuration: RunConfiguration) {
        let rate = configuration.ratePerSecond ?? 0
        let life = configuration.connectionLife
        values = [
            Value("--protocol", configuration.wireProtocol.rawValue),
            Value("--clients", "\(configuration.clientCount)"),
            Value("--pipeline", "\(configuration.pipelineDepth)"),
            Value("--pipeline-mode", configuration.pipelineMode.rawValue),
            Value("--batch", "\(configuration.batchVoteCount)"),
            Value("--rate", NumberFormat.fixed(rate, 0)),
            Value("--mix", configuration.mix.description),
            Value("--posts", "\(configuration.postCount)"),
            Value("--keys", configuration.keys.description),
            Value("--page-size", "\(configuration.pageSize)"),
            Value("--voters", "\(configuration.voterCount)"),
            Value("--think", configuration.think.description),
            Value("--ramp", Self.ramp(configuration.ramp.map { [$0.first, $0.last] })),
            Value("--reconnect-every", "\(life.requestCount ?? 0)"),
            Value("--conn-life", Self.seconds(life.age.map { $0 / .seconds(1) })),
        ]
    }

    /// The text for the rates that a run begins and ends with, which is equal only for equal ones.
    private static func ramp(_ rates: [Double]?) -> String {
        (rates ?? [0]).map { NumberFormat.fixed($0, 0) }.joined(separator: ":")
    }

    /// The text for a number of seconds; 0 for none.
    private static func seconds(_ seconds: Double?) -> String {
        NumberFormat.fixed(seconds ?? 0, 3) + "s"
    }

    /// Whether the rate was given, so that the response time is the figure to compare.
    package var isOpenLoop: Bool { values.contains { $0.flag == "--rate" && $0.text != "0" } }

    /// The first setting in which this load and `other` differ, with both values.
    package func difference(
        from other: RunSettings
    ) -> (flag: String, mine: String, other: String)? {
        zip(values, other.values).first { $0 != $1 }.map { ($0.flag, $0.text, $1.text) }
    }
}
