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

// belongsToMember reports whether a chain belongs to a member: it must verify against the members' authority, and its
// leaf certificate must be valid for servers.
func (a *API) belongsToMember(chain []*x509.Certificate) bool {
	return a.peers.verifies(chain)
}

// isMember reports whether a certificate belongs to the member with that id in the latest configuration. It must be
// issued by the members' authority and be valid for the host in the member's peer address.
func (a *API) isMember(chain []*x509.Certificate, id string) bool {
	if !a.belongsToMember(chain) {
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

// recognizeMember recognizes the subject that setHeaders writes for a member's own call.
func (c *caller) recognizeMember() {
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

// mayJoin refuses a member's own request to add a server at an address that its certificate does not cover. Other
// callers need the admin role, which authorizeCall checks.
func (c *caller) mayJoin(peerAddress string) error {
	if c == nil || !c.member {
		return nil
	}
	if c.certificate == nil {
		return &unauthenticatedError{"this member has already joined"}
	}
	host, _, err := net.SplitHostPort(peerAddress)
	if err == nil {
		err = c.certificate.VerifyHostname(host)
	}
	if err != nil {
		return &unauthenticatedError{fmt.Sprintf("the certificate of %q does not allow joining the cluster with the peer address %s: %v", c.certificate.Subject, peerAddress, err)}
	}
	return nil
}

// memberCerts recognizes members' certificates, which the peer port's authorities issue for servers. Results are cached
// for up to a minute, because there may be thousands of forwarded calls.
type memberCerts struct {
	files certs.Files
	mu    sync.Mutex // guards cache
	cache map[[sha256.Size]byte]verdict
}

// verdict is the cached result for a certificate.
type verdict struct {
	member bool
	until  time.Time
}

const (
	memberTTL      = time.Minute
	nonMemberTTL   = 5 * time.Second
	maxMemberCerts = 1000
)

// verifies reports whether the first certificate of a chain belongs to a member. The rest of the chain may link it to
// its authority.
func (m *memberCerts) verifies(chain []*x509.Certificate) bool {
	if m.files.IsZero() || len(chain) == 0 {
		return false
	}
	now, key := time.Now(), sha256.Sum256(chain[0].Raw)
	m.mu.Lock()
	v, ok := m.cache[key]
	m.mu.Unlock()
	if ok && now.Before(v.until) && now.Before(chain[0].NotAfter) {
		return v.member
	}
	v = verdict{m.files.VerifyMember(chain) == nil, now.Add(memberTTL)} // outside the lock, because it reads files
	if !v.member {
		v.until = now.Add(nonMemberTTL) // its authority may be added soon
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cache) >= maxMemberCerts || m.cache == nil {
		m.cache = make(map[[sha256.Size]byte]verdict)
	}
	m.cache[key] = v
	return v.member
}
