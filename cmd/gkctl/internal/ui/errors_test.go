package ui

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/client"
)

// A rejected certificate must not lead to the hint that asks whether gatekeeperd is running.
func TestClassify_CertificateError_HintNamesCertificateFlags(t *testing.T) {
	t.Parallel()
	refused := &client.CertificateError{Endpoint: "gk1:7420", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}
	err := &client.UnavailableError{Tried: []client.Attempt{{Endpoint: refused.Endpoint, Err: refused}}}
	if code, hint := Classify(nil, err); code != ExitUnreachable || !strings.Contains(hint, "--tls-ca") {
		t.Errorf("Classify() = %d, %q, want %d and a hint about --tls-ca", code, hint, ExitUnreachable)
	}
}
