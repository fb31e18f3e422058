package access

import (
	"strconv"
	"strings"
)

// Role is a set of things that a caller may do. The numbers are frozen: they are in the log.
type Role uint8

const (
	// Viewer reads: definitions, permits, queues, history, jobs, status.
	Viewer Role = 1
	// Acquirer views, acquires, keeps and releases permits, takes over where the definition allows it, submits jobs and
	// works on them.
	Acquirer Role = 2
	// Verifier asks whether a token is valid. A guarded resource needs nothing else.
	Verifier Role = 3
	// Operator views, pauses, moves, cordons, revokes, clears, and cancels, retries and deletes jobs.
	Operator Role = 4
	// Editor views, and creates, replaces and deletes definitions.
	Editor Role = 5
	// Admin does everything, also to members, settings, backups and bindings.
	Admin Role = 6
)

// Roles are all roles, in the order of their numbers.
func Roles() []Role { return []Role{Viewer, Acquirer, Verifier, Operator, Editor, Admin} }

// Includes reports whether a caller with role r may do all that one with role other may.
func (r Role) Includes(other Role) bool {
	return r == other || r == Admin || other == Viewer && (r == Acquirer || r == Operator || r == Editor)
}

// String is the role in one word, for example "viewer".
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

// ParseRole reads the word of a role; false: there is no such role.
func ParseRole(word string) (Role, bool) {
	for _, r := range Roles() {
		if strings.EqualFold(word, r.String()) {
			return r, true
		}
	}
	return 0, false
}
