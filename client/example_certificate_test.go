package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gatekeeperd/gatekeeper/client"
)

// If certificate errors prevent a client from reaching any server, its first call fails without waiting for its context
// to end.
func ExampleCertificateError() {
	ctx := context.Background()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler()) // its certificate is from an unknown authority
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.EnableHTTP2 = true
	untrusted.StartTLS()
	defer untrusted.Close()
	c, err := client.Dial(ctx, []string{untrusted.Listener.Addr().String()}, silent(), client.WithTLS(client.TLS{})) // trusts the system's authorities
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	_, err = c.Semaphore("nightly-export").TryAcquire(ctx)
	if e, ok := errors.AsType[*client.CertificateError](err); ok {
		fmt.Println("at this endpoint:", e.Endpoint == untrusted.Listener.Addr().String())
		fmt.Println("rejected by the server:", e.ByServer)
		_, unknown := errors.AsType[x509.UnknownAuthorityError](e.Err)
		fmt.Println("unknown authority:", unknown)
	}
	fmt.Println("nothing was changed:", errors.Is(err, client.ErrUnavailable) && !errors.Is(err, client.ErrOutcomeUnknown))
	// Output:
	// at this endpoint: true
	// rejected by the server: false
	// unknown authority: true
	// nothing was changed: true
}

// WithPlaintext connects without TLS even if the TLS environment variables are set, for example for another program.
func ExampleWithPlaintext() {
	c, err := client.Dial(context.Background(), []string{"127.0.0.1:7420"}, client.WithPlaintext())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Close())
	// Output: <nil>
}
