package load

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Shared is how many connections the callers of one server share.
const Shared = 4

// Conns are a few connections that callers share.
type Conns []*grpc.ClientConn

// Dial makes Shared connections to a server, which are opened with their first calls.
func Dial(address string) (Conns, error) { return DialWith(address, insecure.NewCredentials()) }

// DialWith is Dial with credentials.
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

// Of is the connection of a caller.
func (c Conns) Of(caller int) *grpc.ClientConn { return c[caller%len(c)] }

// Interfaces are the same connections, for packages that take any.
func (c Conns) Interfaces() []grpc.ClientConnInterface {
	var all []grpc.ClientConnInterface
	for _, conn := range c {
		all = append(all, conn)
	}
	return all
}

// Close closes them.
func (c Conns) Close() {
	for _, conn := range c {
		_ = conn.Close()
	}
}
