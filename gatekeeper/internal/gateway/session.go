package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A session is a bearer token in a browser cookie that scripts cannot read. Servers do not store sessions, so a session
// survives their restarts and is valid on all of them. It ends when the token is revoked or expires.

// sessionLifetime is the maximum age of the cookie.
const sessionLifetime = 12 * time.Hour

// cookieName returns the session cookie's name. Browsers accept the __Host- prefix only from the host itself and over
// TLS.
func (g *Gateway) cookieName() string {
	if g.cfg.Secure {
		return "__Host-gatekeeper"
	}
	return "gatekeeper"
}

// session returns the session token of a request, or "".
func (g *Gateway) session(r *http.Request) string {
	cookie, err := r.Cookie(g.cookieName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (g *Gateway) setCookie(w http.ResponseWriter, token string, maxAge time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName(), Value: token, Path: "/", MaxAge: int(maxAge / time.Second), HttpOnly: true, Secure: g.cfg.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// serveSession creates, returns and deletes a browser's session.
func (g *Gateway) serveSession(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method {
	case http.MethodGet:
		err = g.whoAmI(r.Context(), w, "")
	case http.MethodPost:
		var token string
		if token, err = g.login(r); err == nil {
			r.Header.Set("Authorization", "Bearer "+token)
			err = g.whoAmI(context.WithValue(r.Context(), callerKey{}, g.callerMetadata(r)), w, token)
		}
	case http.MethodDelete:
		g.setCookie(w, "", -time.Second)
		w.WriteHeader(http.StatusNoContent)
	default:
		err = noRoute(r)
	}
	if err != nil {
		writeError(w, err)
	}
}

// login parses the token in a login request.
func (g *Gateway) login(r *http.Request) (string, error) {
	if !g.cfg.Authenticate {
		return "", &httpError{http.StatusConflict, codes.FailedPrecondition, "this server does not authenticate callers, so logging in is not possible"}
	}
	var login struct {
		Token string `json:"token"`
	}
	values := json.NewDecoder(r.Body)
	values.DisallowUnknownFields()
	if err := values.Decode(&login); err != nil {
		return "", invalid("", `the body is not {"token": "..."}: `+err.Error())
	}
	if _, err := values.Token(); !errors.Is(err, io.EOF) {
		return "", invalid("", "the body contains more than one JSON object")
	}
	if cookie := (&http.Cookie{Name: g.cookieName(), Value: login.Token}); login.Token == "" || cookie.Valid() != nil || len(login.Token) > maxCredential {
		return "", invalid("token", "must be a bearer token for this cluster, or a JWT from its issuer")
	}
	return login.Token, nil
}

// whoAmI responds with what the API knows about the caller, and with whether the API authenticates callers at all. If
// token is set, it starts a session.
func (g *Gateway) whoAmI(ctx context.Context, w http.ResponseWriter, token string) error {
	resp, err := gatekeeperv1.NewAuthServiceClient(g.api).WhoAmI(ctx, &gatekeeperv1.WhoAmIRequest{})
	if err != nil {
		return err
	}
	data, err := messageJSON(resp)
	if err != nil {
		return err
	}
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	fields["authenticates"] = strconv.AppendBool(nil, g.cfg.Authenticate)
	if data, err = json.Marshal(fields); err != nil {
		return err
	}
	if token != "" {
		g.setCookie(w, token, sessionLifetime)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(data, '\n')) // the client may have disconnected
	return nil
}
