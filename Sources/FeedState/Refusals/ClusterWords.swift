// What a refusal says of a cluster's directory.
extension RefusalWords {
    func ofCluster() -> Consequences {
        let step = Step(
            text: "For a service of one machine, restore a backup of it into a new directory, and "
                + "serve that. \(backupList)"
        )
        return (Self.nothingIsLost, [step])
    }

    /// The other machines have what this node's directory cannot give any more.
    func ofDamagedNode() -> Consequences {
        let steps = [
            Step(
                text: "Replace the node, and never serve this directory again. On a node that is "
                    + "well, with this node's name and its replica's address:",
                commands: ["feedctl cluster remove NAME", "feedctl cluster add NAME ADDRESS"]
            ),
            Step(
                text: "Then stop both programs here, empty their directories, give `feed-replica "
                    + "join` the token that was printed, and start both."
            ),
        ]
        return ("Nothing is lost as long as the other machines of the cluster are well.", steps)
    }

    func ofOneMachine() -> Consequences {
        let steps = [
            Step(text: "Serve it without --replica, as a service of one machine."),
            Step(
                text: "To make it the first one of a cluster, type this, and what it prints:",
                commands: ["feed-service begin-cluster \(quotedPath)"]
            ),
        ]
        return (Self.nothingIsLost, steps)
    }

    /// A state that was just restored: no service has begun a journal behind it.
    func ofNoRecord() -> Consequences {
        let step = Step(
            text: "Serve it once as a service of one machine, stop that, and type this again:",
            commands: ["feed-service begin-cluster \(quotedPath)"]
        )
        return (Self.nothingIsLost, [step])
    }

    /// A recovery that was typed without the flag, so that nobody loses records by a habit.
    func ofClusterLoss() -> Consequences {
        let meaning =
            "Nothing was changed. What the cluster acknowledged after the last record of this "
            + "directory would be lost, and the machines of the old cluster could not join the new one."
        let steps = [
            Step(
                text: "If a majority of the machines can be had again, with their disks, start "
                    + "them: nothing is lost."
            ),
            Step(
                text: "Else compare the machines that are left, with both programs stopped on "
                    + "each: the highest record behind `journal up to record` wins.",
                commands: ["feed-service verify \(quotedPath)"]
            ),
            Step(text: "Then type this, on that machine alone:", commands: [recoverCluster]),
        ]
        return (meaning, steps)
    }

    var recoverCluster: String {
        "feed-service recover-cluster --accept-lost-changes \(quotedPath)"
    }
}
