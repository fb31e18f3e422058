package client_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Without batches, every TryAcquire is a separate call, so an interceptor sees all of them.
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
