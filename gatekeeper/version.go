package gatekeeper

import "runtime/debug"

// Version returns the version of this module from the build information: a release, or the commit of a development
// build.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" {
			return m.Version
		}
	}
	return "unknown"
}

const modulePath = "github.com/gatekeeperd/gatekeeper"
