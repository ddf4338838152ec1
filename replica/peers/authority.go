// Package peers has the way between nodes: the cluster's own certificate authority, and the listener.
package peers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// How long certificates are valid. A node's is renewed by another `cert`; the running node reads it again.
const (
	authorityValidity = 20 * 365 * 24 * time.Hour
	nodeValidity      = 2 * 365 * 24 * time.Hour
	clockTolerance    = time.Hour
)

// Names of files.
const (
	authorityCertificate = "ca.crt"
	authorityKey         = "ca.key"
)

// MakeAuthority makes the authority of a cluster in a folder. It refuses a folder that has one.
func MakeAuthority(folder string, now time.Time) error {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "feed-replica"},
		NotBefore:             now.Add(-clockTolerance),
		NotAfter:              now.Add(authorityValidity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return issue(folder, authorityCertificate, authorityKey, template, template, key, key)
}

// MakeNodeCertificate makes NAME.crt and NAME.key for the hosts, signed by the authority of the folder. It
// refuses to replace one.
func MakeNodeCertificate(folder, name string, hosts []string, now time.Time) error {
	authority, err := tls.LoadX509KeyPair(filepath.Join(folder, authorityCertificate),
		filepath.Join(folder, authorityKey))
	if err != nil {
		return err
	}
	parent, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		NotBefore:   now.Add(-clockTolerance),
		NotAfter:    now.Add(nodeValidity),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return issue(folder, name+".crt", name+".key", template, parent, key, authority.PrivateKey)
}

// issue signs a certificate, and writes it with its key: the key first, so that no certificate has none.
func issue(
	folder, certificateName, keyName string, template, parent *x509.Certificate, key *ecdsa.PrivateKey,
	signer crypto.PrivateKey,
) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	certificate, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := writeBlock(filepath.Join(folder, keyName), "EC PRIVATE KEY", secret, 0o600); err != nil {
		return err
	}
	return writeBlock(filepath.Join(folder, certificateName), "CERTIFICATE", certificate, 0o644)
}

func writeBlock(path, kind string, b []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err := pem.Encode(file, &pem.Block{Type: kind, Bytes: b}); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// CertificateExpiry is when the certificate of a file ends.
func CertificateExpiry(path string) (time.Time, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return time.Time{}, fmt.Errorf("%s: expected a certificate", path)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", path, err)
	}
	return certificate.NotAfter, nil
}
