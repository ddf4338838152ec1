internal import FeedTLS

/// The bytes of a secured connection, between its socket and its handler.
extension TCPConnection {
    /// Bytes of a secured connection's peer, valid for the call.
    func didReceive(_ ciphertext: RawSpan) {
        switch life {
        case .open: decrypt(ciphertext)
        case .connecting: didReceiveHandshake(ciphertext)
        // What comes after the end of the answers is not looked at.
        case .flushing, .lingering, .closed: break
        }
    }

    private func decrypt(_ ciphertext: RawSpan) {
        guard let security else { return }
        do throws(TLSError) {
            let progress = try security.receive(ciphertext)
            sendEncrypted(security.buffers)
            didDecrypt(progress, security.buffers)
        } catch {
            // What came before the fault was whole, and is not shown: the connection is no longer
            // to be trusted.
            fail(error)
        }
    }

    /// Shows the handler the plaintext of the last read, and the end of the peer's side.
    func didDecrypt(_ progress: TLSConnection.Progress, _ buffers: TLSBuffers) {
        buffers.withPlaintext { plaintext in
            if plaintext.byteCount > 0, life.isOpen { didRead(plaintext) }
        }
        guard progress == .ended else { return }
        if hasArrival { loop.deliverArrivals() }
        guard life.isOpen else { return }
        // The rest of the socket's input does not matter, also if it is no TLS.
        stream.stopReading()
        reading.endInput()
        deliverInputEnd()
    }

    /// Encrypts bytes and sends them, four records at a time.
    func sendSecured(_ bytes: RawSpan, _ security: TLSConnection) {
        var rest = bytes
        while rest.byteCount > 0, life.isOpen {
            let count = min(rest.byteCount, TLSLimits.encryptedByteCount)
            do throws(TLSError) {
                try security.send(rest.extracting(first: count))
            } catch {
                return fail(error)
            }
            sendEncrypted(security.buffers)
            rest = rest.extracting(droppingFirst: count)
        }
    }

    /// Sends what OpenSSL has written: records, the next message of a handshake, or an alert.
    func sendEncrypted(_ buffers: TLSBuffers) {
        buffers.takeOutput { bytes in
            if !life.isClosed { send(bytes) }
        }
    }

    /// Frees what OpenSSL holds for the records of a connection that was silent since the last sweep.
    func freeUnusedBuffers() { security?.freeUnusedBuffers() }

    /// Tells the peer that nothing more comes, after the bytes that were written.
    func endSecured() {
        guard let security else { return }
        security.end()
        sendEncrypted(security.buffers)
    }
}
