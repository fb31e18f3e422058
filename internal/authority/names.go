package authority

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Host checks that s is a host name or an IP address for which a certificate can be issued, and returns it in canonical
// form.
func Host(s string) (string, error) {
	if ip, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		switch {
		case ip.Zone() != "":
			return "", fmt.Errorf("host %q: a certificate cannot contain an address with a zone: use a host name", s)
		case ip.IsUnspecified():
			return "", fmt.Errorf("host %q is a wildcard for all addresses on a machine: specify the addresses that others use to reach it", s)
		}
		return ip.String(), nil
	}
	switch {
	case strings.Contains(s, "://"):
		return "", fmt.Errorf("host %q: specify the host without a scheme", s)
	case strings.Contains(s, "*"):
		return "", fmt.Errorf("host %q: wildcard certificates are not supported: list each host", s)
	}
	if _, port, err := net.SplitHostPort(s); err == nil && port != "" {
		return "", fmt.Errorf("host %q: specify the host without a port", s)
	}
	host := strings.ToLower(strings.TrimSuffix(s, "."))
	if !hostName(host) {
		return "", fmt.Errorf("host %q is neither a host name nor an IP address", s)
	}
	return host, nil
}

func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !consistsOf(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") {
			return false
		}
	}
	last := s[strings.LastIndex(s, ".")+1:]
	return !consistsOf(last, "0123456789") // a name with a numeric last label is a mistyped IP address
}

func consistsOf(s, chars string) bool { return strings.Trim(s, chars) == "" }

// CheckName checks a common name, which also becomes part of file names.
func CheckName(s string) error {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@"
	if s == "" || len(s) > maxCommonName || s[0] == '.' || s[0] == '-' || strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(chars, r) }) >= 0 {
		return fmt.Errorf("name %q must consist of 1 to %d of the characters A-Z a-z 0-9 . _ - @, and must not start with . or -", s, maxCommonName)
	}
	return nil
}

// AcquirerURI returns the URI that pins a certificate to an acquirer.
func AcquirerURI(acquirer string) (*url.URL, error) {
	if err := CheckName(acquirer); err != nil {
		return nil, fmt.Errorf("acquirer: %w", err)
	}
	return &url.URL{Scheme: "gatekeeper", Opaque: "acquirer:" + acquirer}, nil
}

// SPIFFE parses and checks a SPIFFE id, spiffe://TRUST-DOMAIN/PATH.
func SPIFFE(s string) (*url.URL, error) {
	const rule = "must be spiffe://TRUST-DOMAIN/PATH"
	u, err := url.Parse(s)
	if err != nil || len(s) > 2048 {
		return nil, fmt.Errorf("SPIFFE id %q %s", s, rule)
	}
	path, ok := strings.CutPrefix(u.Path, "/")
	if !ok || u.String() != "spiffe://"+u.Host+u.Path || u.Host == "" || !consistsOf(u.Host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") {
		return nil, fmt.Errorf("SPIFFE id %q %s", s, rule)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." ||
			strings.IndexFunc(segment, func(r rune) bool { return !spiffeChar(r) }) >= 0 {
			return nil, fmt.Errorf("SPIFFE id %q %s, and path segments may contain only the characters A-Z a-z 0-9 . _ -", s, rule)
		}
	}
	return u, nil
}

func spiffeChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}
