#if canImport(Security)
internal import Foundation
internal import Security

/// A session store in the keychain of Apple's systems.
///
/// The session stays on this device. A program that is launched before the device was unlocked once after
/// its start finds none.
public struct KeychainSessionStore: SessionStore {
    /// The name of the session among those of the app (`kSecAttrService`).
    public let service: String
    /// The access group whose apps share the session; nil is the app's own.
    public let accessGroup: String?

    private let report: @Sendable (String) -> Void

    /// A store under a name, such as the address of the service.
    ///
    /// - Parameters:
    ///   - service: The name of the session.
    ///   - accessGroup: The group whose apps share it, of the app's entitlements.
    ///   - report: Takes a sentence if the keychain refuses to keep the session, which then ends with the
    ///     program. By default it is dropped.
    public init(
        service: String,
        accessGroup: String? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.service = service
        self.accessGroup = accessGroup
        self.report = report
    }

    /// The session in the keychain; nil if there is none, or the device is still locked.
    public func load() -> StoredSession? {
        var item: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query([kSecReturnData: true]), &item)
        guard status == errSecSuccess else { return nil }
        return (item as? Data).flatMap(StoredSession.init(line:))
    }

    /// Puts a session in the place of the one before.
    public func save(_ session: StoredSession) {
        // The session before must not come back if the keychain refuses this one.
        remove()
        let values: [CFString: Any] = [
            kSecValueData: Data(session.line.utf8),
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let status = unsafe SecItemAdd(query(values), nil)
        if status != errSecSuccess {
            report("\(service): the session could not be kept: keychain error \(status).")
        }
    }

    /// Removes the session from the keychain.
    public func remove() { SecItemDelete(query([:])) }

    private func query(_ values: [CFString: Any]) -> CFDictionary {
        var query = values
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrService] = service
        query[kSecUseDataProtectionKeychain] = true
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query as CFDictionary
    }
}
#endif
