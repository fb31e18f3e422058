package gateway

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// dashboard is the output of make dashboard.
//
//go:embed dashboard/dist
var dashboard embed.FS

// files maps paths to the dashboard's files.
type files map[string]*file

type file struct {
	contentType, etag string
	plain, gzipped    []byte
}

// dashboardFiles loads the embedded files. It panics on an error, which cannot occur with embedded files.
func dashboardFiles() files {
	all := make(files)
	root, err := fs.Sub(dashboard, "dashboard/dist")
	if err != nil {
		panic(err)
	}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err == nil {
			all["/"+name] = newFile(name, data)
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return all
}

func newFile(name string, data []byte) *file {
	sum := sha256.Sum256(data)
	f := &file{contentType: mime.TypeByExtension(path.Ext(name)), etag: hex.EncodeToString(sum[:8]), plain: data}
	if strings.HasSuffix(name, ".map") {
		f.contentType = "application/json"
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a bytes.Buffer never fails
	_ = z.Close()
	if b.Len() < len(data) {
		f.gzipped = b.Bytes()
	}
	return f
}

// pages lists the first path segments of the dashboard's views. The dashboard's script interprets the rest of the path.
var pages = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"s": true, "move": true, "cluster": true, "activity": true, "jobs": true, "access": true, "login": true,
}

// serve responds with a file, or with the page whose script renders the view for that path.
func (all files) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		writeError(w, noRoute(r))
		return
	}
	f := all[r.URL.Path]
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if f == nil && (r.URL.Path == "/" || pages[first]) {
		f = all["/index.html"]
	}
	if f == nil {
		writeError(w, noRoute(r))
		return
	}
	h, data, etag := w.Header(), f.plain, f.etag
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-cache") // the browser must revalidate it each time
	h.Set("Vary", "Accept-Encoding")
	if f.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data, etag = f.gzipped, etag+"-gzip"
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
