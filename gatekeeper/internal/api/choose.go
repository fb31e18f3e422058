package api

import (
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxChosen is the most semaphores of one pause or resume.
const maxChosen = 100_000

// choice is a selector, read.
type choice struct {
	names  globSet
	labels selector
	// plain are the names that are no globs: somebody named them.
	plain map[string]struct{}
}

// choiceFrom reads a selector; field is its path in the request.
func choiceFrom(field string, m *gatekeeperv1.Selector) (*choice, error) {
	c := &choice{plain: make(map[string]struct{})}
	var err error
	if c.names, err = compileGlobs(field+".names", m.GetNames()); err != nil {
		return nil, err
	}
	if c.labels, err = parseSelector(m.GetLabels()); err != nil {
		return nil, within(field, err)
	}
	chosen := len(m.GetNames()) > 0 || m.GetLabels() != ""
	if m.GetAll() && chosen {
		return nil, invalid(field, "", "must not choose all and also name names or labels: they contradict each other")
	}
	if !m.GetAll() && !chosen {
		return nil, invalid(field, "", "must say which definitions: names, labels or all")
	}
	for _, name := range m.GetNames() {
		if !strings.ContainsAny(name, `*?[]`) {
			c.plain[name] = struct{}{}
		}
	}
	return c, nil
}

func (c *choice) match(d *semaphore.Definition) bool {
	return c.names.match(d.Name) && c.labels.match(d.Labels)
}

// named tells whether somebody named that name, not as a glob.
func (c *choice) named(name string) bool {
	_, ok := c.plain[name]
	return ok
}

// absent returns an error when somebody named a definition that there is not.
func (c *choice) absent(state *fsm.State) error {
	for name := range c.plain {
		if state.Definition(name) == nil {
			return &noDefinitionError{name}
		}
	}
	return nil
}

// resolve returns the names of the chosen definitions, in their order.
func (c *choice) resolve(state *fsm.State) ([]string, error) {
	if err := c.absent(state); err != nil {
		return nil, err
	}
	var names []string
	for stored := range state.Definitions("") {
		if d := stored.Definition; c.match(d) {
			names = append(names, d.Name)
		}
	}
	if len(names) > maxChosen {
		return nil, invalid("selector", "", "must choose at most 100 000 definitions: do it in parts")
	}
	return names, nil
}
