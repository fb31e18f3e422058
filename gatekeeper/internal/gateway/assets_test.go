package gateway

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFiles_AreCompressedAndRevalidated(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("let a = 1;\n", 1000)
	all := files{"/assets/app.js": newFile("assets/app.js", []byte(script))}
	get := func(headers ...string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "/assets/app.js", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		all.serve(w, r)
		return w.Result()
	}
	readAll := func(r io.Reader) string {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	plain, gzipped := get(), get("Accept-Encoding", "br, gzip")
	if got := readAll(plain.Body); got != script || plain.Header.Get("Content-Encoding") != "" || !strings.Contains(plain.Header.Get("Content-Type"), "javascript") {
		t.Errorf("uncompressed response: header %v, body %.20q", plain.Header, got)
	}
	z, err := gzip.NewReader(gzipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(z); got != script || gzipped.Header.Get("Content-Encoding") != "gzip" || gzipped.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("compressed response: header %v, body %.20q", gzipped.Header, got)
	}
	if tag := gzipped.Header.Get("ETag"); tag == "" || tag == plain.Header.Get("ETag") {
		t.Errorf("ETag = %q for the compressed and %q for the plain response, want different tags", tag, plain.Header.Get("ETag"))
	} else if revalidated := get("Accept-Encoding", "gzip", "If-None-Match", tag); revalidated.StatusCode != http.StatusNotModified {
		t.Errorf("GET with a current ETag = %s, want 304", revalidated.Status)
	}
}
