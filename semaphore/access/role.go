package access

import (
	"strconv"
	"strings"
)

// A Role is a set of permissions. The numbers are frozen: they are in the log.
type Role uint8

const (
	// Viewer may read definitions, permits, queues, history, jobs and status.
	Viewer Role = 1
	// Acquirer may view; acquire, refresh and release permits; take over where the definition allows it; and submit
	// jobs and work on them.
	Acquirer Role = 2
	// Verifier may check whether a token is valid. This role is enough for a guarded resource.
	Verifier Role = 3
	// Operator may view; pause, move, cordon, revoke and clear; and cancel, retry and delete jobs.
	Operator Role = 4
	// Editor may view, and create, replace and delete definitions.
	Editor Role = 5
	// Admin may do everything, including managing members, settings, backups and bindings.
	Admin Role = 6
)

// Roles returns all roles in numerical order.
func Roles() []Role { return []Role{Viewer, Acquirer, Verifier, Operator, Editor, Admin} }

// Includes reports whether role r has all permissions of role other.
func (r Role) Includes(other Role) bool {
	return r == other || r == Admin || other == Viewer && (r == Acquirer || r == Operator || r == Editor)
}

// String returns the name of the role, for example "viewer".
func (r Role) String() string {
	switch r {
	case Viewer:
		return "viewer"
	case Acquirer:
		return "acquirer"
	case Verifier:
		return "verifier"
	case Operator:
		return "operator"
	case Editor:
		return "editor"
	case Admin:
		return "admin"
	}
	return "role " + strconv.Itoa(int(r))
}

// ParseRole returns the role with the given name, ignoring case, or false if there is no such role.
func ParseRole(name string) (Role, bool) {
	for _, r := range Roles() {
		if strings.EqualFold(name, r.String()) {
			return r, true
		}
	}
	return 0, false
}
