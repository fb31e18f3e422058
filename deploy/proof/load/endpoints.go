package load

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// endpoints holds connections to the current servers. Connections to former servers stay open, as in practice.
type endpoints struct {
	mu      sync.Mutex // guards the fields below
	conns   map[string]*grpc.ClientConn
	current []string
	// credentials are used for all connections. nil means plaintext.
	credentials credentials.TransportCredentials
}

// set sets the current servers.
func (e *endpoints) set(addresses []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conns == nil {
		e.conns = map[string]*grpc.ClientConn{}
	}
	for _, address := range addresses {
		if e.conns[address] != nil {
			continue
		}
		conn, err := e.dial(address)
		if err != nil {
			return err
		}
		e.conns[address] = conn
	}
	e.current = slices.Clone(addresses)
	return nil
}

// randomServer returns a random server.
func (e *endpoints) randomServer(random *rand.Rand) stubs {
	e.mu.Lock()
	defer e.mu.Unlock()
	conn := e.conns[e.current[random.IntN(len(e.current))]]
	return stubs{
		gatekeeperv1.NewPermitServiceClient(conn), gatekeeperv1.NewDefinitionServiceClient(conn), gatekeeperv1.NewOperatorServiceClient(conn),
		gatekeeperv1.NewWatchServiceClient(conn), gatekeeperv1.NewWorkServiceClient(conn),
	}
}

func (e *endpoints) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, conn := range e.conns {
		conn.Close()
	}
}

// dial returns a connection that reconnects quickly if it is lost.
func (e *endpoints) dial(endpoint string) (*grpc.ClientConn, error) {
	creds := e.credentials
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	connectBackoff := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, MaxDelay: 500 * time.Millisecond}
	return grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(creds),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: connectBackoff, MinConnectTimeout: time.Second}))
}
