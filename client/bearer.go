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

// WithBearerToken sends a bearer token with each call. It requires TLS. source is called for each call, possibly
// concurrently, and returns the token. A source that fetches tokens must cache them. If source fails, the call fails
// with an *UnauthenticatedError.
//
// By default, the token is read from the file named in GK_BEARER_TOKEN_FILE, as with WithBearerTokenFile, or else from
// GK_BEARER_TOKEN. With a nil source, no token is sent even if the variables are set.
func WithBearerToken(source func(ctx context.Context) (string, error)) Option {
	return dialOption(func(s *settings) error { s.bearer, s.bearerSet = source, true; return nil })
}

// WithBearerTokenFile is like WithBearerToken, but reads the token from a file. White space around the token is
// ignored. The file is read again whenever it changes, so that a token, such as a service account token that Kubernetes
// projects into a pod, can be renewed while a Client is in use. Replace the file atomically, by renaming. While the
// file is unusable, the last usable token is sent. Dial returns an error if the file is unusable.
func WithBearerTokenFile(path string) Option {
	return dialOption(func(s *settings) error {
		f := &bearerFile{path: path}
		s.bearer, s.bearerSet = f.token, true
		_, err := f.token(context.Background())
		return err
	})
}

// authenticate uses the bearer token from the environment variables, unless an option or WithPlaintext overrides them.
// It must be called after secure, because a token requires TLS.
func (s *settings) authenticate() error {
	if !s.bearerSet && !s.plaintext {
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
		return errors.New("a bearer token is only sent over TLS, because anyone who can read it can use it: set up TLS (GK_TLS_CA, WithTLS), or remove the token " +
			"(GK_BEARER_TOKEN_FILE, GK_BEARER_TOKEN, WithBearerToken)")
	}
	return nil
}

// bearer implements credentials.PerRPCCredentials.
type bearer func(ctx context.Context) (string, error)

// GetRequestMetadata implements credentials.PerRPCCredentials. Its errors look like a server's, because gRPC returns
// such errors unchanged.
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
	s := status.New(codes.Unauthenticated, "unauthenticated: no bearer token can be sent: "+err.Error())
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reasonUnauthenticated}); err == nil {
		s = detailed
	}
	return nil, s.Err()
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// errTokenRejected ends an attempt if the caller's token expired or was revoked after the server had accepted the call.
// The attempt is retried with the new token. If there is none, the next attempt is refused.
var errTokenRejected = status.Error(codes.Unavailable, "the server ended the call because the caller's token is no longer valid")

// tokenRejected reports whether a server failed to identify the caller. Use it only if the server had already accepted
// the call, or if the token has changed since the call was made.
func tokenRejected(err error) bool {
	s, ok := status.FromError(err)
	return ok && info(s).GetReason() == reasonUnauthenticated
}

// token returns the bearer token that a call would send now, or the empty string if there is none.
func (c *Client) token(ctx context.Context) string {
	if c.settings.bearer == nil {
		return ""
	}
	token, _ := c.settings.bearer(ctx) // a failing source is reported by the next call
	return token
}

// checkBearer returns an error if the token cannot be sent. The error does not contain the token, which may be a
// secret.
func checkBearer(token string) error {
	switch {
	case token == "":
		return errors.New("it is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("it is not a single token: it contains spaces, line breaks or non-ASCII characters")
	case strings.ContainsFunc(token, func(r rune) bool { return !strings.ContainsRune(bearerChars, r) }):
		return errors.New("it contains characters that are not allowed in a token: remove quotation marks and any other extra characters")
	case strings.HasPrefix(token, "gk_") && len(token) < minTokenLength:
		return errors.New("part of the token is missing: copy it again, or create a new one with gkctl auth token create")
	}
	return nil
}

// minTokenLength is the length of a token created by gkctl auth token create: gk_, an id of 12 characters, _, and a
// secret of 43 characters.
const minTokenLength = 3 + 12 + 1 + 43

// bearerChars are the characters that any kind of bearer token may contain (RFC 6750, section 2.1).
const bearerChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

// isToken reports whether text looks like the start of a Gatekeeper bearer token or a JWT.
func isToken(text string) bool {
	return strings.HasPrefix(text, "gk_") || strings.HasPrefix(text, "eyJ")
}

// bearerFile reads a bearer token from a file.
type bearerFile struct {
	path string

	mu   sync.Mutex  // guards the fields below
	read os.FileInfo // describes the file when it was last read, or nil
	last string
}

// token returns the token in the file, or the last usable token if the file is unusable.
func (f *bearerFile) token(context.Context) (string, error) {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.read != nil && (same(info, f.read) || !info.Mode().IsRegular()) { // a pipe can be read only once
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
		return "", errors.New("the name of the bearer token file looks like a token: " +
			"specify the name of a file that contains the token")
	case f.read == nil:
		return "", fmt.Errorf("the bearer token file %s: %w", f.path, err)
	}
	return f.last, nil
}

// same reports whether a file is unchanged.
func same(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime()) && now.Size() == then.Size()
}
