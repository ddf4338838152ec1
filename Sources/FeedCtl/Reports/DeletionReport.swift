/// A post that is gone, as `delete` reports it.
package struct DeletionReport: Report, Equatable {
    let deletedID: UInt64

    /// A post was deleted, now or before.
    package init(deletedID: UInt64) {
        self.deletedID = deletedID
    }

    /// One line.
    package func text(_ style: TextStyle) -> String { "Post \(deletedID) is deleted.\n" }
}
