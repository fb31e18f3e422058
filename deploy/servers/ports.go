package servers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which systems choose those of outgoing connections: a port found free there
// stays free until a server listens on it.
const (
	firstPort = 20000
	lastPort  = 31999
)

// FreePorts returns n loopback addresses, host:port, on which nobody listens.
func FreePorts(n int) ([]string, error) {
	var addresses []string
	taken := map[int]bool{}
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if taken[port] {
			continue
		}
		taken[port] = true
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		l.Close()
		addresses = append(addresses, address)
		if len(addresses) == n {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports between %d and %d", n, firstPort, lastPort)
}
