package ui

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Who has the wrong certificate is not asked whether the server runs.
func TestClassify_Certificate_IsHintedAt(t *testing.T) {
	t.Parallel()
	refused := &client.CertificateError{Endpoint: "gk1:7420", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}
	err := &client.UnavailableError{Tried: []client.Attempt{{Endpoint: refused.Endpoint, Err: refused}}}
	if code, hint := Classify(nil, err); code != ExitUnreachable || !strings.Contains(hint, "--tls-ca") {
		t.Errorf("code %d, %q", code, hint)
	}
}
