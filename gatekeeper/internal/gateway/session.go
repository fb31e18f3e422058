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

// A session is a bearer token that the browser keeps in a cookie, which no script can read. Servers keep nothing of it,
// so it survives their restarts and is good at each of them. It ends when the token is revoked or expires.

// sessionLife is how long a browser keeps the cookie.
const sessionLife = 12 * time.Hour

// cookieName is that of the cookie. Browsers take one with the prefix only from the host itself and by TLS.
func (g *Gateway) cookieName() string {
	if g.cfg.Secure {
		return "__Host-gatekeeper"
	}
	return "gatekeeper"
}

// session is the token of the session of a request; empty: it has none.
func (g *Gateway) session(r *http.Request) string {
	cookie, err := r.Cookie(g.cookieName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (g *Gateway) setCookie(w http.ResponseWriter, token string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName(), Value: token, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: g.cfg.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// serveSession begins, shows and ends the session of a browser.
func (g *Gateway) serveSession(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method {
	case http.MethodGet:
		err = g.whoAmI(r.Context(), w, "")
	case http.MethodPost:
		var token string
		if token, err = g.login(r); err == nil {
			r.Header.Set("Authorization", "Bearer "+token)
			err = g.whoAmI(context.WithValue(r.Context(), callerKey{}, g.callerOf(r)), w, token)
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

// login reads the token of a login.
func (g *Gateway) login(r *http.Request) (string, error) {
	if !g.cfg.Authenticate {
		return "", &httpError{http.StatusConflict, codes.FailedPrecondition, "this server authenticates nobody: there is nothing to log in to"}
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
		return "", invalid("", "the body has more than one JSON object")
	}
	if cookie := (&http.Cookie{Name: g.cookieName(), Value: login.Token}); login.Token == "" || cookie.Valid() != nil || len(login.Token) > maxCredential {
		return "", invalid("token", "must be a bearer token of this cluster, or a JWT of its issuer")
	}
	return login.Token, nil
}

// whoAmI answers with what the API says of the caller, and whether it authenticates callers at all. A token begins a
// session.
func (g *Gateway) whoAmI(ctx context.Context, w http.ResponseWriter, token string) error {
	answer, err := gatekeeperv1.NewAuthServiceClient(g.api).WhoAmI(ctx, &gatekeeperv1.WhoAmIRequest{})
	if err != nil {
		return err
	}
	data, err := messageJSON(answer)
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
		g.setCookie(w, token, sessionLife)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(data, '\n')) // the client may have gone
	return nil
}
