internal import Glibc

/// Who may read a file that holds a secret.
package enum SecretFile {
    /// Whether the file's mode keeps the secret from all others than those who run the service.
    ///
    /// Nobody but the owner may have access. One exception: the file is root's and its group, of which the
    /// process is a member, may read it, as Kubernetes mounts secrets (0440, the group of `fsGroup`). Only
    /// root can make such a file, and an administrator chose who is in the group.
    package static func isPrivate(mode: UInt32, owner: UInt32, group: UInt32) -> Bool {
        isPrivate(mode: mode, owner: owner, isMember: isMember(of: group))
    }

    /// Whether a group is the process's own, or one of its further groups.
    private static func isMember(of group: UInt32) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(0, count))).contains(group)
    }

    /// The same rule, for a process that is a member of the group or not.
    package static func isPrivate(mode: UInt32, owner: UInt32, isMember: Bool) -> Bool {
        mode & 0o077 == 0 || (mode & 0o037 == 0 && owner == 0 && isMember)
    }
}
