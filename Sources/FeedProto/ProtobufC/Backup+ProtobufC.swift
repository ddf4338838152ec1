import CFeedProto

extension BackupResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BackupResponse>) {
        unsafe feed__v1__backup_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BackupResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            name: reader.text(message.pointee.name, "name"),
            revision: message.pointee.revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BackupResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.revision = revision
    }
}
