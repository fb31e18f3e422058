package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Permit metadata keys that identify the Manager holding the permit.
const (
	metadataURL      = "tasks.probe-url"
	metadataInstance = "tasks.instance"
)

var (
	// ErrNoProbeURL means that the metadata of the holder's permit contains no probe URL; see WithProbeURL.
	ErrNoProbeURL = errors.New("the holder's permit has no probe URL")
	// ErrNotHolder means that the response from the probe URL came from a process other than the holder's, or from
	// something other than a Manager's Handler.
	ErrNotHolder = errors.New("the response is not from the holder's process")
)

// maxResponseSize limits how much of a response is read.
const maxResponseSize = 64 << 10

// answer is a Handler's response to a probe.
type answer struct {
	Acquirer string `json:"acquirer"`
	Group    string `json:"group"`
	Instance string `json:"instance"`
	Token    string `json:"token"`
	// Running reports whether a task is running under the token, or whether its permit is being released.
	Running bool `json:"running"`
	// Acquiring reports whether a task is acquiring a permit from the semaphore. The servers may already have granted
	// it the token, in a response that it has not received yet.
	Acquiring bool `json:"acquiring"`
}

// Handler returns a handler for requests from an HTTPProbe. It reports whether a task of this Manager is running under
// a token. Serve it at the URL given to WithProbeURL. It responds to GET requests with JSON, and reveals this process's
// group and acquirer to every caller.
func (m *Manager) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
			return
		}
		token, err := strconv.ParseUint(r.FormValue("token"), 10, 64)
		if err != nil {
			http.Error(w, "token must be a number", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m.answer(r.FormValue("semaphore"), token)) // an error means that the caller has disconnected
	})
}

func (m *Manager) answer(semaphore string, token uint64) answer {
	a := answer{Instance: m.instance, Token: strconv.FormatUint(token, 10)}
	a.Group, a.Acquirer = m.client.Semaphore(semaphore, m.settings.acquire...).Caller()
	m.mu.Lock()
	defer m.mu.Unlock()
	_, a.Running = m.running[token]
	for _, e := range m.entries {
		if m.settings.semaphore(e.name) != semaphore {
			continue
		}
		for _, attempt := range []*attempt{e.current, e.missed} {
			a.Acquiring = a.Acquiring || attempt != nil && attempt.state != Running
		}
	}
	return a
}

// HTTPProbe asks the holder's process, at the URL in the permit's metadata, whether it is running the task. It detects
// a process that has been killed or restarted, even while its permit is still live.
//
// A holder is dead if the connection is refused because nothing is listening at the URL any more, if the process has
// been restarted, or if its Manager is not running a task under the token. If there is no response, for example because
// of a timeout, Alive returns an error: the host may be down, busy or cut off. It returns ErrNotHolder if the response
// comes from another group or acquirer, and ErrNoProbeURL if the permit has no URL.
//
// Any caller that can acquire a permit can choose the URL that is requested. The GET request carries no credentials,
// unless Client adds them.
type HTTPProbe struct {
	// Client makes the requests. The default does not follow redirects.
	Client *http.Client
}

// Alive asks the holder's process.
func (p HTTPProbe) Alive(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error) {
	address := holder.GetMetadata()[metadataURL]
	if address == "" {
		return false, ErrNoProbeURL
	}
	a, err := p.fetch(ctx, address, holder)
	switch {
	case refused(err):
		return false, nil
	case err != nil:
		return false, err
	case a.Token != strconv.FormatUint(holder.GetToken(), 10),
		a.Acquirer != holder.GetIdentity().GetAcquirer(), a.Group != holder.GetIdentity().GetGroup():
		return false, fmt.Errorf("%w: acquirer %q in group %q answered for token %q", ErrNotHolder, a.Acquirer, a.Group, a.Token)
	case a.Instance != holder.GetMetadata()[metadataInstance]:
		return false, nil // the process was restarted
	}
	return a.Running || a.Acquiring, nil
}

// refused reports whether the holder's host refused the connection. A connection refused by a proxy does not count.
func refused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && errors.Is(err, syscall.ECONNREFUSED)
}

func (p HTTPProbe) fetch(ctx context.Context, address string, holder *gatekeeperv1.Permit) (a answer, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return a, err
	}
	query := u.Query()
	query.Set("semaphore", holder.GetSemaphore())
	query.Set("token", strconv.FormatUint(holder.GetToken(), 10))
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return a, err
	}
	c := p.Client
	if c == nil {
		c = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	r, err := c.Do(req)
	if err != nil {
		return a, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%w: %s answered with %s", ErrNotHolder, address, r.Status)
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxResponseSize)).Decode(&a); err != nil {
		return a, fmt.Errorf("%w: %w", ErrNotHolder, err)
	}
	return a, nil
}
