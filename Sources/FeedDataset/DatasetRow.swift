/// One row of a file: a post, or the reason why the row gives none.
package enum DatasetRow: Equatable, Sendable {
    /// A post with the values of its row.
    case post(DatasetPost)
    /// The row has a value that no post may have.
    case rejected(RejectedPost)

    /// The line of the file that it begins on.
    package var line: Int {
        switch self {
        case .post(let post): post.line
        case .rejected(let rejection): rejection.line
        }
    }
}
