package api

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Per-connection limits.
const (
	// MaxMessage is the maximum size of a message to the server in bytes. It is the same as gRPC's default.
	MaxMessage = 4 << 20
	// maxReceived is the size above which gRPC itself refuses a message, with a less helpful status.
	maxReceived = 2 * MaxMessage
	// maxStreams is the maximum number of concurrent calls and streams per connection. Another server forwards all
	// its clients' calls over one connection, which may carry 10,000 long-lived streams in addition to unary calls.
	maxStreams = 1 << 15
	// maxHeaders is the maximum size of a call's headers in bytes.
	maxHeaders = 16 << 10
	// workers is the number of reusable goroutines that serve calls. Reusing them avoids growing a new stack for each
	// call, which accounted for 11% of the CPU time on a leader that was denying 64 callers. A stream occupies a worker
	// until it ends. If no worker is free, a call gets a new goroutine.
	workers = 64
)

// Keepalive settings. A suspended or disconnected client is detected after serverPingInterval + serverPingTimeout.
const (
	minClientPingInterval = 5 * time.Second
	serverPingInterval    = 30 * time.Second
	serverPingTimeout     = 10 * time.Second
)

// ServerOptions returns the options for a server on which the API can be registered.
func (a *API) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(a.portCredentials()),
		grpc.MaxRecvMsgSize(maxReceived),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(a.cfg.Handshake),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPingInterval, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPingInterval, Timeout: serverPingTimeout}),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.NumStreamWorkers(workers),
		grpc.UnaryInterceptor(a.unary),
		grpc.StreamInterceptor(a.stream),
	}
}

// NewServer returns a server with the services and reflection registered. It does not listen yet.
func (a *API) NewServer() *grpc.Server {
	s := grpc.NewServer(a.ServerOptions()...)
	a.Register(s)
	reflection.Register(s)
	return s
}
