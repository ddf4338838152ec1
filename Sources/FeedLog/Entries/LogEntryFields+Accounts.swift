import FeedAccounts

/// The fields of accounts and their sessions.
extension LogEntryFields {
    mutating func account(_ bytes: borrowing LogBytes) throws(LogEntryError) -> AccountRow {
        let id = try varint(bytes)
        let createTime = try varint(bytes)
        return AccountRow(
            id: id,
            email: try text(bytes),
            displayName: try text(bytes),
            passwordHash: try text(bytes),
            createTimeMilliseconds: Int64(bitPattern: createTime)
        )
    }

    mutating func session(_ bytes: borrowing LogBytes) throws(LogEntryError) -> SessionRow {
        SessionRow(
            tokenHash: try tokenHash(bytes),
            userID: try varint(bytes),
            expireTimeMilliseconds: Int64(bitPattern: try varint(bytes)),
            generation: try varint(bytes)
        )
    }

    mutating func tokenHash(_ bytes: borrowing LogBytes) throws(LogEntryError) -> TokenHash {
        TokenHash(
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes)
        )
    }
}
