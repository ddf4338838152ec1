/// The audit in the report.
enum AuditText {
    /// Its lines; the first starts with `label`, the others with `indent`.
    static func lines(_ outcome: AuditOutcome, label: String, indent: String) -> [String] {
        switch outcome {
        case .skipped: return [label + "not done (--no-verify)"]
        case .impossible(let reason): return [label + "NOT POSSIBLE  \(reason)"]
        case .done(let summary):
            let findings = summary.findings
            var lines = [
                label + """
                    \(findings.isEmpty ? "PASS" : "FAIL")  \
                    votes acked \(NumberFormat.count(summary.acknowledgedVoteCount))  \
                    unknown \(NumberFormat.count(summary.unknownVoteCount))  \
                    failed \(NumberFormat.count(summary.failedVoteCount))  \
                    counted by server \(counted(summary))
                    """,
                indent + """
                    \(summary.exactPostCount) of \(summary.postCount) posts exact   \
                    \(summary.createdPostCount) created   \(summary.listedPostCount) listed
                    """,
            ]
            lines += findings.counts.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { indent + "\($0.key.rawValue): \(NumberFormat.count($0.value))" }
            return lines + findings.examples.map { indent + "  " + $0 }
        }
    }

    private static func counted(_ summary: AuditSummary) -> String {
        summary.countedVoteCount < 0
            ? "\(summary.countedVoteCount)"
            : NumberFormat.count(UInt64(summary.countedVoteCount))
    }
}

/// The report of an audit of an earlier run.
package struct VerificationText {
    private let result: RunReport
    private let path: String

    /// A report of `result`, whose run is recorded in the file at `path`.
    package init(_ result: RunReport, path: String) {
        self.result = result
        self.path = path
    }

    /// The whole text, with a newline at its end.
    package func rendered() -> String {
        let head = "loadgen  audit of \(path)  target \(result.configuration.target)"
        let lines =
            AuditText.lines(result.audit, label: "Audit        ", indent: "             ")
            + (result.cleanup.map { ["Cleanup      " + $0.text] } ?? [])
        let status = result.exitStatus
        let end = status == .success ? [] : ["", "exit \(status.rawValue)"]
        return ([head, ""] + lines + end).joined(separator: "\n") + "\n"
    }
}
