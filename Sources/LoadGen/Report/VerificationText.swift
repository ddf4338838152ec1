/// The report of an audit of an earlier run.
package struct VerificationText {
    private let result: RunResult
    private let path: String

    /// A report of `result`, whose run is recorded in the file at `path`.
    package init(_ result: RunResult, path: String) {
        self.result = result
        self.path = path
    }

    /// The whole text, with a newline at its end.
    package func rendered() -> String {
        let head = "loadgen  audit of \(path)  target \(result.configuration.target)"
        let lines = AuditText.lines(result.audit, label: "Audit        ", indent: "             ")
        let status = result.exitStatus
        let end = status == .success ? [] : ["", "exit \(status.rawValue)"]
        return ([head, ""] + lines + end).joined(separator: "\n") + "\n"
    }
}
