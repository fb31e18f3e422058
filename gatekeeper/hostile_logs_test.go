package gatekeeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/prototext"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// forged is text that attempts to forge a log line or to control the terminal that displays it.
const forged = "x\ntime=2026-01-01T00:00:00Z level=INFO msg=forged\r\x1b[2J\x00\u009b31m{\"seq\":1}"

// Names, reasons, certificates and raw bytes sent by callers cannot forge a log line, and no token appears in the
// server's logs, files or responses.
func TestHostile_ForgedText_LogsStayIntactWithoutSecrets(t *testing.T) {
	t.Parallel()
	text, lines := &logBuffer{}, &logBuffer{}
	debug := &slog.HandlerOptions{Level: slog.LevelDebug}
	var dir string
	s := newSecuredServer(t, func(c *Config) {
		c.BearerTokens = true
		c.Logger = slog.New(slog.NewMultiHandler(slog.NewTextHandler(text, debug), slog.NewJSONHandler(lines, debug)))
		dir = c.DataDir
	})
	server, admin := s.servers[0], s.named(0, "client")
	admin.create(t, "job")
	s.bind("app", roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	good, _ := s.token("app")
	revoked, id := s.token("app")
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: id, Reason: "leaked"}); err != nil {
		t.Fatal(err)
	}
	wrong := good[:len(good)-4] + "ABCD"
	var responses []string // all responses to callers
	record := func(what any, err error) {
		responses = append(responses, fmt.Sprint(what, err))
	}
	app := s.withToken(0, good)
	held := app.grant(t, "job", "host")
	record(app.refresh(t, held).String(), nil)
	for _, secret := range []string{good, revoked, wrong, forged[:1] + wrong} {
		c := s.withToken(0, secret)
		record(c.ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}))
		record(gatekeeperv1.NewAuthServiceClient(c.conn).WhoAmI(bounded(t), &gatekeeperv1.WhoAmIRequest{}))
		w, err := c.Watch(bounded(t), &gatekeeperv1.WatchRequest{})
		if err == nil {
			_, err = w.Recv()
		}
		record("", err)
		_, body, err := s.page(t, nil, "", "/metrics", http.Header{"Authorization": {"Bearer " + secret}})
		record(body, err)
		_, body, err = s.page(t, nil, "", "/debug/pprof/goroutine?debug=2", http.Header{"Authorization": {"bearer  " + secret}})
		record(body, err)
		record(admin.ListDefinitions(metadata.AppendToOutgoingContext(bounded(t), "authorization", "Basic "+secret), &gatekeeperv1.ListDefinitionsRequest{}))
	}
	// Requests with forged text.
	forger := strings.ReplaceAll(forged, "\x00", "") // used in a file name
	evil := s.named(0, forger)
	record(evil.ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}))
	_, body, err := s.page(t, s.a.api, forger, "/metrics", nil)
	record(body, err)
	_, body, err = s.page(t, s.a.api, "client", "/debug/pprof/%0Aforged%1B[2J", nil)
	record(body, err)
	for _, c := range []caller{admin, app} {
		record(c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{Semaphore: forged, Identity: &gatekeeperv1.Identity{Group: forged, Acquirer: "a"}}))
		record(c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
			Semaphore: "job", Identity: &gatekeeperv1.Identity{Group: "g", Acquirer: "a"}, Metadata: map[string]string{"a": forged}, RequestId: forged,
		}))
		record(c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: byName("job"), Author: forged, Reason: forged}))
		record(c.Revoke(bounded(t), &gatekeeperv1.RevokeRequest{Token: held.GetToken(), Author: forged, Reason: forged}))
		record(c.Release(bounded(t), &gatekeeperv1.ReleaseRequest{
			Token: held.GetToken(), Failure: forged, Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED,
		}))
		record(c.RemoveMember(bounded(t), &gatekeeperv1.RemoveMemberRequest{Id: forged}))
		record(gatekeeperv1.NewAuthServiceClient(c.conn).SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{
			Binding: &gatekeeperv1.Binding{Name: forged, Subjects: []string{"cert:" + forged}}, Reason: forged,
		}))
		record(gatekeeperv1.NewAuthServiceClient(c.conn).SetBinding(bounded(t), &gatekeeperv1.SetBindingRequest{
			Binding: &gatekeeperv1.Binding{Name: "x", Subjects: []string{"cert:" + "\u009b31m"}},
		}))
	}
	_, adminPort, _ := net.SplitHostPort(server.AdminAddress())
	for _, address := range []string{server.APIAddress(), server.PeerAddress(), "127.0.0.1:" + adminPort} {
		for _, prefix := range []string{"", "gkpeer\x00\x01\x00\x00\xff", "GET /" + strings.Repeat("a", 100) + " HTTP/1.1\r\nX: ", "\x16\x03\x01\x02\x00\x01"} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, prefix+forged+"\r\n\r\n") // the server may close the connection at any byte
			_ = c.(*net.TCPConn).CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s did not close a connection that sent %q", address, prefix)
			}
			c.Close()
		}
	}
	history, err := admin.ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{})
	record(prototext.Format(history), err)
	bindings, err := s.admin.ListBindings(bounded(t), &gatekeeperv1.ListBindingsRequest{})
	record(prototext.Format(bindings), err)
	snapshot, err := saveBackup(t, admin)
	if err != nil {
		t.Fatal(err)
	}
	s.closeAndReadAudit(t) // closes the server and verifies the audit log

	var forgeries []string
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, " msg=forged") && strings.HasPrefix(line, "time=2026-01-01") || strings.ContainsFunc(line, unicode.IsControl) {
			forgeries = append(forgeries, line)
		}
	}
	for line := range strings.Lines(lines.String()) {
		var entry struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "forged" || entry.Msg == "" {
			forgeries = append(forgeries, line)
		}
	}
	if len(forgeries) > 0 {
		t.Errorf("forged log lines: %q", forgeries)
	}
	places := map[string]string{"the log": text.String(), "the JSON log": lines.String()}
	for i, response := range responses {
		places[fmt.Sprintf("response %d", i)] = response
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		places[path] = string(content)
		return err
	})
	content, readErr := os.ReadFile(snapshot)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	places["the snapshot"] = string(content)
	for where, content := range places {
		for what, secret := range map[string]string{"a good token": good, "a revoked token": revoked, "a wrong token": wrong} {
			_, hidden, _ := strings.Cut(strings.TrimPrefix(secret, "gk_"), "_")
			if strings.Contains(content, hidden) {
				t.Errorf("%s contains the secret of %s: %.300q", where, what, content)
			}
		}
	}
	if len(places) < 40 {
		t.Errorf("searched %d places, want at least 40", len(places))
	}
}
