/// What a key makes its caller: the word behind its hash in the file of `--service-keys`.
package enum KeyRole: String, CaseIterable, Sendable, BitwiseCopyable {
    /// What a caller without a key is, who may sign a user in.
    case app
    /// A program that reads posts and changes nothing.
    case reader
    /// A trusted program, which may also act for users.
    case service
    /// A program or a person that keeps the service running.
    case `operator`

    /// The role of a line without a word for it: lines had none before there were roles.
    package static let unnamed = KeyRole.service

    /// All roles, for a message.
    static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }
}
