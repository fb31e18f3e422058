package gatekeeper

import "runtime/debug"

// Version returns this module's version from the build information. For a development build, it identifies the commit.
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
