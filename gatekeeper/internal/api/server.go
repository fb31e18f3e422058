package api

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Limits of a connection.
const (
	// MaxMessage is the most bytes of a message to the server: what gRPC's clients accept in the other direction unless
	// told otherwise.
	MaxMessage = 4 << 20
	// maxReceived is where gRPC itself gives up, with a status that says less.
	maxReceived = 2 * MaxMessage
	// maxStreams is the most calls and streams at once on one connection. Another server that passes streams on has one
	// connection for all of its clients, of whom there may be 10 000 with a stream that never ends, and calls beside
	// it.
	maxStreams = 1 << 15
	// maxHeaders is the most bytes of a call's headers.
	maxHeaders = 16 << 10
	// workers are goroutines that serve calls one after the other, so that their stacks need not grow again for each,
	// with a dozen frames of gRPC on them: by a profile 11 % of the CPU time of a leader that denies 64 callers. A
	// stream keeps one until it ends; calls for which none is left have a goroutine of their own.
	workers = 64
)

// Keepalive of a connection. A client that was suspended or cut off is noticed after serverPing + serverPingTimeout.
const (
	minClientPing     = 5 * time.Second
	serverPing        = 30 * time.Second
	serverPingTimeout = 10 * time.Second
)

// ServerOptions are those of a server on which the API can be registered.
func (a *API) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(a.portCredentials()),
		grpc.MaxRecvMsgSize(maxReceived),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(a.cfg.Handshake),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPing, Timeout: serverPingTimeout}),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.NumStreamWorkers(workers),
		grpc.UnaryInterceptor(a.unary),
		grpc.StreamInterceptor(a.stream),
	}
}

// NewServer returns a server with everything registered, reflection too, that listens nowhere yet.
func (a *API) NewServer() *grpc.Server {
	s := grpc.NewServer(a.ServerOptions()...)
	a.Register(s)
	reflection.Register(s)
	return s
}
