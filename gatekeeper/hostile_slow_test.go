package gatekeeper

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Connections to the HTTP and admin ports that never send a complete request are closed after a timeout, even if they
// keep sending single bytes. Other clients are served in the meantime.
func TestHostile_SlowRequests_TimeOutWhileOthersAreServed(t *testing.T) {
	t.Parallel()
	s := newSecuredWeb(t)
	s.bind("viewer", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	pair := authoritytest.Pair(t, s.a.api.Issue(authority.Leaf{Name: "viewer", Client: true}))
	clientTLS := &tls.Config{RootCAs: s.a.api.Pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	for port, address := range map[string]string{"HTTP": s.servers[0].HTTPAddress(), "admin": s.servers[0].AdminAddress()} {
		t.Run(port, func(t *testing.T) {
			t.Parallel()
			_, number, err := net.SplitHostPort(address)
			if err != nil {
				t.Fatal(err)
			}
			address := net.JoinHostPort("127.0.0.1", number)
			var slow []net.Conn
			track := func(c net.Conn, err error) net.Conn {
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				slow = append(slow, c)
				return c
			}
			for range 32 { // nothing, or a partial handshake
				track(net.Dial("tcp", address))
				_, _ = io.WriteString(track(net.Dial("tcp", address)), "\x16\x03\x01\x02\x00\x01")
			}
			for range 8 { // a complete handshake, but no complete request
				_, _ = io.WriteString(track(tls.Dial("tcp", address, clientTLS)), "GET /metrics HTTP/1.1\r\nHost: ")
			}
			slowWriter := track(tls.Dial("tcp", address, clientTLS))
			slowWriterDone := make(chan struct{})
			go func() {
				defer close(slowWriterDone)
				for {
					if _, err := io.WriteString(slowWriter, "a"); err != nil {
						return
					}
					select {
					case <-t.Context().Done():
						return
					case <-time.After(50 * time.Millisecond):
					}
				}
			}()
			good := &http.Client{Transport: &http.Transport{TLSClientConfig: clientTLS}}
			defer good.CloseIdleConnections()
			get := func(when string) {
				r, err := http.NewRequestWithContext(bounded(t), http.MethodGet, "https://"+address+"/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := good.Do(r)
				if err != nil {
					t.Errorf("GET %s: %v", when, err)
					return
				}
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("GET %s = %s, want 200", when, resp.Status)
				}
			}
			get("while slow connections are open")
			for _, c := range slow {
				if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				_, err := io.Copy(io.Discard, c)
				if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // net returns it unwrapped
					t.Fatal("the server did not close the connection")
				}
			}
			<-slowWriterDone
			get("after slow connections were closed")
		})
	}
}
