internal import Configuration
internal import FeedConcurrency

/// Notes which provider has given a value.
final class SettingSource: AccessReporter {
    private let found = Lock<Int?>(nil)

    /// The provider of the latest value, by its place in the reader's order; nil where none has one.
    var number: Int? { found.withLock { $0 } }

    func report(_ event: AccessEvent) {
        // A reader asks one provider after another, up to the first that has a value.
        let number = event.providerResults.firstIndex { provider in
            if case .success(let result) = provider.result { result.value != nil } else { false }
        }
        found.withLock { $0 = number }
    }
}
