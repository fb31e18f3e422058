package held

import (
	"slices"
	"strconv"
	"strings"
)

// environment returns the command's environment: env, which is gkctl's own, with the permit's variables added.
func (s *Spec) environment(env []string) []string {
	// Omit the variables set by an enclosing run.
	names := []string{
		"GK_SEMAPHORE", "GK_TOKEN", "GK_GROUP", "GK_ACQUIRER", "GK_PERMIT_FILE", "GK_FIRING", "GK_JOB", "GK_TASK", "GK_ATTEMPT",
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, name)
	})
	kept = append(kept,
		"GK_SEMAPHORE="+s.Permit.Semaphore(), "GK_TOKEN="+strconv.FormatUint(s.Permit.Token(), 10),
		"GK_GROUP="+s.Permit.Group(), "GK_ACQUIRER="+s.Permit.Acquirer(), "GK_PERMIT_FILE="+s.File.path(),
	)
	return append(kept, s.Env...)
}
