package gatekeeper

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// browser sends requests to an HTTP port.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newBrowser(t *testing.T, s *Server) *browser {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return &browser{t, "http://" + s.HTTPAddress(), client}
}

// openWithBrowser opens a server with an HTTP port and returns it with a caller and a browser.
func openWithBrowser(t *testing.T) (*Server, caller, *browser) {
	t.Helper()
	cfg, _ := testConfig(t, "gk1")
	cfg.HTTPAddress = "127.0.0.1:0"
	s, c := openReady(t, cfg)
	return s, c, newBrowser(t, s)
}

// page is a response with its body.
type page struct {
	*http.Response
	text string
}

// field returns the string at a dotted path in the JSON response, or "" if there is no such string.
func (p *page) field(path string) string {
	var at any
	if json.Unmarshal([]byte(p.text), &at) != nil {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	text, _ := at.(string)
	return text
}

// request sends a request. headers alternates between names and values. A body is sent as JSON unless the headers
// specify another type.
func (b *browser) request(method, path, body string, headers ...string) *page {
	b.t.Helper()
	p, err := b.tryRequest(method, path, body, headers...)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	return p
}

func (b *browser) tryRequest(method, path, body string, headers ...string) (*page, error) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(bounded(b.t), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &page{resp, string(text)}, nil
}

// expect checks that the response has the given status and contains all the given parts.
func (p *page) expect(t *testing.T, status int, parts ...string) {
	t.Helper()
	if p.StatusCode != status {
		t.Errorf("%s %s = %s, want %d\n%s", p.Request.Method, p.Request.URL, p.Status, status, p.text)
	}
	for _, part := range parts {
		if !strings.Contains(p.text, part) {
			t.Errorf("%s %s: response does not contain %q:\n%s", p.Request.Method, p.Request.URL, part, p.text)
		}
	}
}

// toJSON returns the message as gkctl -o json prints it.
func toJSON(t *testing.T, m proto.Message) string {
	t.Helper()
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}

func TestWeb_Responses_MatchAPIMessages(t *testing.T) {
	t.Parallel()
	_, c, b := openWithBrowser(t)
	for _, name := range []string{"report", "a/b:edit", "50%", "über all#", "%2F", "x/permits/1"} {
		b.request("POST", "/v1/definitions", `{"definition":{"name":`+quoted(name)+`,"permits":2,"labels":{"team":"<b>"}},"reason":"test"}`).expect(t, http.StatusOK)
		r, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		p := b.request("GET", "/v1/definitions/"+url.PathEscape(name), "")
		if p.expect(t, http.StatusOK); p.text != toJSON(t, r) || p.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %s, want %s", name, p.text, toJSON(t, r))
		}
		escaped := strings.NewReplacer("%", "%25", "/", "%2F", ":", "%3A", "#", "%23", " ", "%20").Replace(name)
		b.request("POST", "/v1/semaphores/"+escaped+":tryAcquire", `{"identity":{"group":"g","acquirer":"a"}}`).expect(t, http.StatusOK, `"semaphore":`+quoted(name))
	}
	list, err := c.ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{Names: []string{"report", "50%"}, PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	expiresIn := regexp.MustCompile(`"expires_in":"[^"]*"`)
	got := expiresIn.ReplaceAllString(b.request("GET", "/v1/definitions?names=report&names=50%25&page_size=1", "").text, "")
	if want := expiresIn.ReplaceAllString(toJSON(t, list), ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.request("PUT", "/v1/definitions/report", `{"definition":{"permits":3},"expected_version":"1"}`).expect(t, http.StatusConflict, `"code":"ABORTED"`, `"reason":"STALE_VERSION"`, `"metadata":{"current"`)
	p := b.request("GET", "/v1/definitions/nothing", "")
	if p.expect(t, http.StatusNotFound); p.field("reason") != "NO_SUCH_DEFINITION" || p.field("message") == "" {
		t.Error(p.text)
	}
	b.request("POST", "/v1/pause", `{"selector":{"names":["report"]},"duration":"90s"}`).expect(t, http.StatusOK, `"names":["report"]`)
	b.request("POST", "/v1/jobs", `{"job":{"id":"j/1","semaphore":"report"},"tasks":["YQ=="]}`+"\n"+`{"tasks":["Yg=="],"last":true}`).expect(t, http.StatusOK, `"tasks":2`)
	b.request("GET", "/v1/jobs/j%2F1/tasks?payloads=true", "").expect(t, http.StatusOK, `"payload":"Yg=="`)
	version := b.request("GET", "/v1/definitions/50%25", "").field("record.version")
	b.request("DELETE", "/v1/definitions/50%25?reason=obsolete&expected_version="+version, "").expect(t, http.StatusOK, `"revision"`)
	b.request("GET", "/v1/definitions:summarize", "").expect(t, http.StatusOK, `"total":`)
	b.request("GET", "/v1/openapi.json", "").expect(t, http.StatusOK, `"/v1/semaphores/{semaphore}:tryAcquire"`)
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func TestWeb_InvalidInput_IsReportedAndChangesNothing(t *testing.T) {
	t.Parallel()
	s, c, b := openWithBrowser(t)
	c.create(t, "report")
	before := s.machine.State().Revision()
	for name, bad := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		wantText           string
	}{
		"unknown field":                            {"POST", "/v1/definitions", `{"definition":{"name":"x"},"authr":"a"}`, nil, 400, `unknown field \"authr\"`},
		"unknown parameter":                        {"DELETE", "/v1/definitions/report?verzion=1", "", nil, 400, "verzion is not a parameter"},
		"parameter for a route without parameters": {"GET", "/v1/jobs/j?id=k", "", nil, 400, "id is not a parameter of this route, which takes none"},
		"parameter with a body":                    {"POST", "/v1/definitions?reason=x", `{"definition":{"name":"x"}}`, nil, 400, "omit the query"},
		"body in a GET request":                    {"GET", "/v1/definitions", `{}`, nil, 400, "omit the body"},
		"a bad parameter value":                    {"GET", "/v1/definitions?page_size=many", "", nil, 400, "page_size"},
		"a token that is not a number":             {"POST", "/v1/permits/one:clear", `{}`, nil, 400, "token"},
		"broken JSON":                              {"POST", "/v1/definitions", `{"definition":{"name":"x"}`, nil, 400, "the body is not JSON"},
		"two objects":                              {"POST", "/v1/definitions", `{"definition":{"name":"x"}}{}`, nil, 400, "more than one JSON object"},
		"the same field twice":                     {"POST", "/v1/definitions", `{"reason":"a","reason":"b","definition":{"name":"x"}}`, nil, 400, "duplicate field"},
		"a different name in the path":             {"PUT", "/v1/definitions/other", `{"definition":{"name":"report"},"expected_version":"2"}`, nil, 400, `body has definition.name`},
		"not UTF-8":                                {"GET", "/v1/definitions/%ff", "", nil, 400, "valid UTF-8"},
		"not UTF-8 in a query":                     {"GET", "/v1/definitions?names=%ff", "", nil, 400, "must be valid UTF-8"},
		"a bad escape":                             {"GET", "/v1/definitions?names=%zz", "", nil, 400, "malformed query"},
		"a form":                                   {"POST", "/v1/definitions", `definition=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "application/json"},
		"no content type":                          {"POST", "/v1/definitions", "", nil, 415, "application/json"},
		"too large":                                {"POST", "/v1/definitions", `{"reason":"` + strings.Repeat("x", 4<<20) + `"}`, nil, 413, "larger than 4 MiB"},
		"overridden method":                        {"POST", "/v1/definitions/report", `{}`, []string{"X-HTTP-Method-Override", "DELETE"}, 404, "no route for POST"},
		"no such route":                            {"POST", "/v1/nothing", `{}`, nil, 404, "no route for POST /v1/nothing"},
		"a path with dots":                         {"GET", "/v1/../../etc/passwd", "", nil, 404, "no route for GET"},
		"a path with encoded slashes":              {"GET", "/assets/..%2f..%2fgateway.go", "", nil, 404, "no route for GET"},
		"slashes":                                  {"GET", "//v1//definitions", "", nil, 404, "no route for GET"},
		"a huge credential":                        {"GET", "/v1/definitions", "", []string{"Authorization", "Bearer " + strings.Repeat("x", 10<<10)}, 431, "too large"},
		"an unknown field in a later message":      {"POST", "/v1/jobs", `{"job":{"id":"j","semaphore":"report"},"tasks":["YQ=="]}{"task":[]}`, nil, 400, `unknown field \"task\"`},
		"a page on another site":                   {"POST", "/v1/definitions", `{"definition":{"name":"x"}}`, []string{"Origin", "https://evil.example"}, 403, "another site"},
		"a frame on another site":                  {"POST", "/v1/definitions", `{"definition":{"name":"x"}}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, "another site"},
		"a foreign host name":                      {"GET", "/v1/definitions", "", []string{"Host", "evil.example:7422"}, 421, "localhost"},
		"login without authentication":             {"POST", "/session", `{"token":"x"}`, nil, 409, "does not authenticate callers"},
	} {
		p := b.request(bad.method, bad.path, bad.body, bad.headers...)
		p.expect(t, bad.status, bad.wantText)
		if p.field("code") == "" || p.field("message") == "" {
			t.Errorf("%s: response without a code or a message: %s", name, p.text)
		}
	}
	for _, host := range []string{"localhost", "[::1]:7422", "127.0.0.1", "gatekeeper:7422"} {
		b.request("GET", "/v1/status", "", "Host", host).expect(t, http.StatusOK)
	}
	own := strings.TrimPrefix(b.base, "http://")
	b.request("POST", "/v1/preview", `{"pause":{"selector":{"names":["report"]}}}`, "Origin", "http://"+own, "Sec-Fetch-Site", "same-origin").expect(t, http.StatusOK)
	if after := s.machine.State().Revision(); after != before {
		t.Errorf("Revision() = %d, want it unchanged at %d", after, before)
	}
	if jobs, err := gatekeeperv1.NewWorkServiceClient(c.conn).ListJobs(bounded(t), &gatekeeperv1.ListJobsRequest{}); err != nil || len(jobs.GetJobs()) > 0 {
		t.Errorf("ListJobs() = %v, %v, want none", jobs, err)
	}
}

// Malformed and ambiguous requests must be rejected, either by net/http or by the handler.
func TestWeb_SmuggledRequests_AreRejected(t *testing.T) {
	t.Parallel()
	s, c, _ := openWithBrowser(t)
	c.create(t, "report")
	before := s.machine.State().Revision()
	inner := "DELETE /v1/definitions/report HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, raw := range map[string]string{
		"two lengths":                   "POST /v1/preview HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 60\r\n\r\n{}" + inner,
		"chunked encoding and a length": "POST /v1/preview HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n\r\n" + inner,
		"a space in a header name":      "POST /v1/preview HTTP/1.1\r\nHost: localhost\r\nContent-Length : 60\r\n\r\n" + inner,
		"two hosts":                     "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", s.HTTPAddress())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, raw); err != nil {
			t.Fatal(err)
		}
		resp, err := io.ReadAll(conn) // the server closes the connection
		if err != nil && len(resp) == 0 {
			t.Fatal(err)
		}
		_ = conn.Close()
		if status, _, _ := strings.Cut(string(resp), "\r\n"); !strings.Contains(status, " 400 ") && !strings.Contains(status, " 501 ") {
			t.Errorf("%s: got %s, want 400 or 501", name, status)
		}
	}
	if after := s.machine.State().Revision(); after != before {
		t.Errorf("Revision() = %d, want it unchanged at %d", after, before)
	}
}

func TestWeb_Pages_AreServedByURLWithStrictHeaders(t *testing.T) {
	t.Parallel()
	_, _, b := openWithBrowser(t)
	index := b.request("GET", "/", "")
	index.expect(t, http.StatusOK, "<title>Gatekeeper</title>")
	for _, link := range []string{"/s/team%2Freport", "/move?group=zone-a", "/cluster", "/activity", "/jobs", "/jobs/j%2F1", "/access", "/login"} {
		if p := b.request("GET", link, ""); p.StatusCode != http.StatusOK || p.text != index.text {
			t.Errorf("GET %s = %s, want index.html\n%s", link, p.Status, p.text)
		}
	}
	b.request("GET", "/", "", "If-None-Match", index.Header.Get("ETag")).expect(t, http.StatusNotModified)
	b.request("HEAD", "/", "").expect(t, http.StatusOK)
	b.request("GET", "/.git/config", "").expect(t, http.StatusNotFound)
	b.request("POST", "/", `{}`).expect(t, http.StatusNotFound)
	for _, path := range []string{"/", "/v1/status", "/v1/nothing", "/assets/nothing.js"} {
		h := b.request("GET", path, "").Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self';", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-",
		} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("GET %s: header %s = %q, want %q", path, name, h.Get(name), want)
			}
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET %s: other sites can read the response", path)
		}
	}
}

func TestWeb_Follower_ReturnsSameResponses(t *testing.T) {
	t.Parallel()
	servers := clusterWith(t, func(c *Config) { c.HTTPAddress = "127.0.0.1:0" }, "gk1", "gk2", "gk3")
	leader, followers := findLeader(t, servers)
	b, at := newBrowser(t, followers[0]), newBrowser(t, leader)
	eventually(t, func() bool {
		return b.request("POST", "/v1/definitions", `{"definition":{"name":"report"},"request_id":"r"}`).StatusCode == http.StatusOK
	})
	for _, path := range []string{"/v1/definitions/report", "/v1/history?names=report", "/v1/settings"} {
		eventually(t, func() bool {
			here, there := b.request("GET", path, ""), at.request("GET", path, "")
			return here.StatusCode == http.StatusOK && here.text == there.text
		})
	}
}
