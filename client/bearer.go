package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// WithBearerToken sends a bearer token with each call: the one that source returns then. It needs TLS. source is called
// for each call, by several goroutines at once: one that fetches tokens must cache them. Its error ends the call with
// an *UnauthenticatedError.
//
// Default: the file that GK_BEARER_TOKEN_FILE names, as with WithBearerTokenFile; else the token in GK_BEARER_TOKEN. A
// nil source sends none, whatever the variables say.
func WithBearerToken(source func(ctx context.Context) (string, error)) Option {
	return dialOption(func(s *settings) error { s.bearer, s.bearerGiven = source, true; return nil })
}

// WithBearerTokenFile is WithBearerToken with the token in a file; white space around it does not count. The file is
// read again when it has changed, so that tokens are renewed while a Client runs: the token of a service account that
// Kubernetes projects into a pod, for example. Replace it in one step, by renaming. While it cannot be used, the last
// token is sent. A file that cannot be used at the start is an error of Dial.
func WithBearerTokenFile(path string) Option {
	return dialOption(func(s *settings) error {
		f := &bearerFile{path: path}
		s.bearer, s.bearerGiven = f.token, true
		_, err := f.token(context.Background())
		return err
	})
}

// authenticate takes the bearer token of the variables, unless an option or WithPlaintext replaces them. It needs the
// TLS of s.
func (s *settings) authenticate() error {
	if !s.bearerGiven && !s.plaintext {
		file, token := os.Getenv("GK_BEARER_TOKEN_FILE"), strings.TrimSpace(os.Getenv("GK_BEARER_TOKEN"))
		switch {
		case file != "":
			if err := WithBearerTokenFile(file).dial(s); err != nil {
				return fmt.Errorf("GK_BEARER_TOKEN_FILE: %w", err)
			}
		case token != "":
			if err := checkBearer(token); err != nil {
				return fmt.Errorf("GK_BEARER_TOKEN: %w", err)
			}
			s.bearer = func(context.Context) (string, error) { return token, nil }
		}
	}
	if s.bearer != nil && s.tls == nil {
		return errors.New("a bearer token is sent by TLS only, because everybody on its way could use it: set up TLS (GK_TLS_CA, WithTLS), or take the token away " +
			"(GK_BEARER_TOKEN_FILE, GK_BEARER_TOKEN, WithBearerToken)")
	}
	return nil
}

// bearer are credentials of calls.
type bearer func(ctx context.Context) (string, error)

// GetRequestMetadata is that of credentials.PerRPCCredentials. Its error looks like a server's, which gRPC hands on as
// it is.
func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b(ctx)
	if err == nil {
		err = checkBearer(token)
	}
	switch {
	case err == nil:
		return map[string]string{"authorization": "Bearer " + token}, nil
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	s := status.New(codes.Unauthenticated, "unauthenticated: there is no bearer token to send: "+err.Error())
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reasonUnauthenticated}); err == nil {
		s = detailed
	}
	return nil, s.Err()
}

// RequireTransportSecurity is that of credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// errTokenEnded ends an attempt that a server has let in before its token ended. It is made again, with the token that
// has replaced it; where none has, the next attempt is refused at once.
var errTokenEnded = status.Error(codes.Unavailable, "the server ended the call because the token of its caller has ended")

// tokenEnded reports whether a server does not know the caller. Ask only for a call that it has let in, or that has
// another token to show now.
func tokenEnded(err error) bool {
	s, ok := status.FromError(err)
	return ok && info(s).GetReason() == reasonUnauthenticated
}

// token is the bearer token that a call would show now; empty: none.
func (c *Client) token(ctx context.Context) string {
	if c.settings.bearer == nil {
		return ""
	}
	token, _ := c.settings.bearer(ctx) // that there is none is said by the call that needs it
	return token
}

// checkBearer refuses what cannot be sent. The error does not show it: it may be a secret.
func checkBearer(token string) error {
	switch {
	case token == "":
		return errors.New("it is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("it is not one token: it has blanks, line breaks or characters beyond ASCII")
	case strings.ContainsFunc(token, func(r rune) bool { return !strings.ContainsRune(bearerChars, r) }):
		return errors.New("it has characters that no token has: take quotation marks and the like away")
	case strings.HasPrefix(token, "gk_") && len(token) < shortestToken:
		return errors.New("part of the token is missing: copy it again, or create another with gkctl auth token create")
	}
	return nil
}

// shortestToken is the length of a token of gkctl auth token create: gk_, an id of 12 characters, _, and 43 of the
// secret.
const shortestToken = 3 + 12 + 1 + 43

// bearerChars are the characters of a bearer token, of any kind (RFC 6750, section 2.1).
const bearerChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

// isToken reports whether a text begins as bearer tokens of Gatekeeper, or JWTs, do.
func isToken(text string) bool {
	return strings.HasPrefix(text, "gk_") || strings.HasPrefix(text, "eyJ")
}

// bearerFile is a file with a token.
type bearerFile struct {
	path string

	mu   sync.Mutex  // guards the others
	read os.FileInfo // of what was read last; nil: nothing yet
	last string
}

// token returns what the file has now, or had when it could be used last.
func (f *bearerFile) token(context.Context) (string, error) {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.read != nil && (same(info, f.read) || !info.Mode().IsRegular()) { // what a pipe had is gone
		return f.last, nil
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(f.path)
	}
	token := strings.TrimSpace(string(text))
	if err == nil {
		err = checkBearer(token)
	}
	switch {
	case err == nil:
		f.read, f.last = info, token
	case f.read == nil && info == nil && isToken(filepath.Base(f.path)):
		return "", errors.New("the file of the bearer token has a token for its name: " +
			"give the name of a file with the token in it")
	case f.read == nil:
		return "", fmt.Errorf("the file of the bearer token, %s: %w", f.path, err)
	}
	return f.last, nil
}

// same reports whether a file is as it was.
func same(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime()) && now.Size() == then.Size()
}
