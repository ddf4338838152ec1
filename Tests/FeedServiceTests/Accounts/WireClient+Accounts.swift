import FeedProto
import FeedTestSupport

extension WireClient {
    /// Signs up and returns the answer.
    func signUp(
        _ email: String,
        password: String = "password",
        name: String = ""
    ) throws -> ServerFrame {
        let request = SignUpRequest(
            email: email,
            password: SecretText(password),
            displayName: name
        )
        return try call(.signUp(request))
    }

    /// Signs in and returns the answer.
    func signIn(
        _ email: String,
        password: String = "password",
        creates: Bool = false
    ) throws -> ServerFrame {
        let request = SignInRequest(
            email: email,
            password: SecretText(password),
            createsIfMissing: creates
        )
        return try call(.signIn(request))
    }

    /// Says Hello with the token of a session.
    func hello(token: [UInt8], clientID: [UInt8] = []) throws -> ServerFrame {
        try call(.hello(HelloRequest(clientID: clientID, sessionToken: token)))
    }

    /// The reason of the refusal of a call; nil where it succeeds.
    func refusal(_ request: Request) throws -> Reason? { try call(request).status?.reason }
}

extension ServerFrame {
    /// The session of the answer; throws the answer's refusal where it has none.
    var session: UserSession {
        get throws {
            guard case .session(let session) = response else {
                throw status ?? Status(code: .unknown, reason: .internal, message: "No session.")
            }
            return session
        }
    }
}
