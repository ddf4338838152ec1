/// A file that the program reads, and what names it on the command line; no output may go over it.
struct InputFile: Equatable {
    /// The flag, or the command whose argument it is.
    let flag: String
    /// Its path as given.
    let path: String

    /// The files of flags that were given.
    static func given(_ flags: [(flag: String, path: String?)]) -> [Self] {
        flags.compactMap { flag, path in path.map { Self(flag: flag, path: $0) } }
    }
}

extension LoadOptions {
    /// The files that every load reads.
    var inputs: [InputFile] {
        InputFile.given([
            ("--ca", ca), ("--cert", cert), ("--key", key), ("--service-key-file", serviceKeyFile),
        ])
    }
}

extension Options {
    /// The files that a run reads.
    var inputs: [InputFile] {
        load.inputs + InputFile.given([("--compare", compare), ("--verify-only", verifyOnly)])
    }
}

extension DatasetOptions {
    /// The files that a load of files reads.
    var inputs: [InputFile] {
        load.inputs + files.map { InputFile(flag: "loadgen dataset", path: $0) }
    }
}
