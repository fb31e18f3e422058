package load

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Shared is the number of connections that a server's callers share.
const Shared = 4

// Conns are connections shared by callers.
type Conns []*grpc.ClientConn

// Dial creates Shared connections to a server. They are opened by the first calls.
func Dial(address string) (Conns, error) { return DialWith(address, insecure.NewCredentials()) }

// DialWith is like Dial, but uses the given credentials.
func DialWith(address string, creds credentials.TransportCredentials) (Conns, error) {
	var c Conns
	for range Shared {
		conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(creds))
		if err != nil {
			return nil, err
		}
		c = append(c, conn)
	}
	return c, nil
}

// ForCaller returns a caller's connection.
func (c Conns) ForCaller(caller int) *grpc.ClientConn { return c[caller%len(c)] }

// Interfaces returns the connections as interface values.
func (c Conns) Interfaces() []grpc.ClientConnInterface {
	var all []grpc.ClientConnInterface
	for _, conn := range c {
		all = append(all, conn)
	}
	return all
}

// Close closes the connections.
func (c Conns) Close() {
	for _, conn := range c {
		_ = conn.Close()
	}
}
