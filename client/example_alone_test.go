package client_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
)

// An interceptor sees every TryAcquire only if each one is a separate call.
func ExampleWithCallsAlone() {
	logCalls := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		fmt.Println(method)
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	c, err := client.Dial(context.Background(), nil, client.WithCallsAlone(), client.WithGRPC(grpc.WithUnaryInterceptor(logCalls)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Close())
	// Output: <nil>
}
