package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"
)

// net/http/pprof is not used, because importing it adds its handlers to http.DefaultServeMux. A program that embeds the
// server and serves that mux publicly would unknowingly expose its profiles.

const (
	defaultSeconds = 30
	// maxSeconds limits how long a single request can keep a profile running.
	maxSeconds = 300
)

func listProfiles(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	for _, p := range pprof.Profiles() {
		fmt.Fprintf(&b, "%s?debug=1\t%d\n", p.Name(), p.Count())
	}
	b.WriteString("profile?seconds=30\ntrace?seconds=1\n")
	writeText(w, http.StatusOK, b.String())
}

// serveProfile responds the way net/http/pprof does: "profile" and "trace" run for a limited time, and debug selects
// text output.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	switch name {
	case "profile":
		serveTimed(w, r, name, defaultSeconds, pprof.StartCPUProfile, pprof.StopCPUProfile)
		return
	case "trace":
		serveTimed(w, r, name, 1, trace.Start, trace.Stop)
		return
	}
	p := pprof.Lookup(name)
	if p == nil {
		writeText(w, http.StatusNotFound, fmt.Sprintf("there is no profile %q; see /debug/pprof/ for the available profiles\n", name))
		return
	}
	debug, err := intParam(r, "debug", 0, 2)
	gc, gcErr := intParam(r, "gc", 0, 1)
	if err := errors.Join(err, gcErr); err != nil {
		writeText(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	if name == "heap" && gc > 0 {
		runtime.GC()
	}
	if debug > 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		setAttachment(w, name)
	}
	_ = p.WriteTo(w, debug) // the client may have disconnected
}

// serveTimed runs a profile for the requested number of seconds, or until the client disconnects.
func serveTimed(w http.ResponseWriter, r *http.Request, name string, seconds int, start func(io.Writer) error, stop func()) {
	seconds, err := intParam(r, "seconds", seconds, maxSeconds)
	if err != nil {
		writeText(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	duration := time.Duration(seconds) * time.Second
	// Not every ResponseWriter supports this. If this one does not, the server's timeout applies.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(duration + time.Minute))
	setAttachment(w, name)
	if err := start(w); err != nil {
		w.Header().Del("Content-Disposition")
		// A process can run only one profile of each kind at a time.
		writeText(w, http.StatusConflict, fmt.Sprintf("cannot start the profile: %v\n", err))
		return
	}
	defer stop()
	ctx, cancel := context.WithTimeout(r.Context(), duration)
	defer cancel()
	<-ctx.Done()
}

func setAttachment(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// intParam parses a query parameter, which must be between 0 and limit. If the parameter is absent, it returns
// fallback.
func intParam(r *http.Request, name string, fallback, limit int) (int, error) {
	s := r.FormValue(name)
	if s == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("%s is %q: it must be a number from 0 to %d", name, s, limit)
	}
	return n, nil
}
