package api

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// ofPeers reports whether a chain ends at the authority of members, and its certificate is one of a member: it is for
// servers too.
func (a *API) ofPeers(chain []*x509.Certificate) bool {
	return a.peers.verifies(chain)
}

// isMember reports whether a certificate is that of the member of the latest configuration with that id: the authority
// of members has issued it, and it is valid for the host of the member's peer address.
func (a *API) isMember(chain []*x509.Certificate, id string) bool {
	if !a.ofPeers(chain) {
		return false
	}
	members, err := a.cfg.Consensus.Members()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(members, func(m consensus.Member) bool {
		host, _, err := net.SplitHostPort(m.PeerAddress)
		return err == nil && m.ID == id && chain[0].VerifyHostname(host) == nil
	})
}

// asMember reads the subject of a member that calls for itself, as passOn wrote it.
func (c *caller) asMember() {
	if len(c.credential.Subjects) != 1 {
		return
	}
	der, ok := strings.CutPrefix(c.credential.Subjects[0], memberSubject)
	if !ok {
		return
	}
	if cert, err := x509.ParseCertificate([]byte(der)); err == nil {
		c.certificate = cert
	} else if der != "" {
		return
	}
	c.member, c.credential.Subjects = true, nil
}

func (c *caller) der() []byte {
	if c.certificate == nil {
		return nil
	}
	return c.certificate.Raw
}

// mayJoin refuses a member that asks, without the role of an administrator, to take in a server at an address that its
// certificate does not name.
func (c *caller) mayJoin(peerAddress string) error {
	if c == nil || !c.member {
		return nil
	}
	if c.certificate == nil {
		return &unauthenticatedError{"a member that has joined does not join again"}
	}
	host, _, err := net.SplitHostPort(peerAddress)
	if err == nil {
		err = c.certificate.VerifyHostname(host)
	}
	if err != nil {
		return &unauthenticatedError{fmt.Sprintf("the certificate of %q may not join the cluster with the peer address %s: %v", c.certificate.Subject, peerAddress, err)}
	}
	return nil
}

// memberCerts recognizes the certificates of members: those that the authorities of the peer port have issued for
// servers. What was found out about a certificate counts for a minute, because calls that are passed on come by the
// thousand.
type memberCerts struct {
	files certs.Files
	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]verdict
}

// verdict is what was found out about a certificate.
type verdict struct {
	member bool
	until  time.Time
}

const (
	memberCertsFor = time.Minute
	strangersFor   = 5 * time.Second
	maxMemberCerts = 1000
)

// verifies reports whether the first certificate of a chain is one of a member. The rest of the chain may lead to its
// authority.
func (m *memberCerts) verifies(chain []*x509.Certificate) bool {
	if m.files.IsZero() || len(chain) == 0 {
		return false
	}
	now, key := time.Now(), sha256.Sum256(chain[0].Raw)
	m.mu.Lock()
	v, ok := m.known[key]
	m.mu.Unlock()
	if ok && now.Before(v.until) && now.Before(chain[0].NotAfter) {
		return v.member
	}
	v = verdict{m.files.Member(chain) == nil, now.Add(memberCertsFor)} // without the lock: it reads files
	if !v.member {
		v.until = now.Add(strangersFor) // its authority may come any moment
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxMemberCerts || m.known == nil {
		m.known = make(map[[sha256.Size]byte]verdict)
	}
	m.known[key] = v
	return v.member
}
