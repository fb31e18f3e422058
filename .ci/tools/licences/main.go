// Command licences checks that all modules linked into the binaries and libraries have an allowed licence. A missing
// licence file or an unrecognized licence text is an error. The argument is the directory of the module to check.
//
// It reads the modules in Go's module cache, so it uses the network only when a build would.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed lists the SPDX ids of licences that only require including their text, and MPL-2.0, which also requires
// publishing the source of the files it covers.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// minMatch is the minimum percentage of a licence file's words that must match known licences.
const minMatch = 75

// roots are the packages that users build or import.
var roots = []string{"./cmd/...", "./client/...", "./gatekeeper/...", "./examples/..."}

// systems are the operating systems that binaries are built for. Each links different modules.
var systems = []string{"linux", "darwin", "windows"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licences DIRECTORY")
		os.Exit(64)
	}
	modules, err := linked(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	count, bad := make(map[string]int), 0
	for _, m := range modules {
		ids, err := m.licences()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", m.Path, m.Version, err)
			bad++
		}
		count[strings.Join(ids, " and ")]++
	}
	if bad > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d modules do not have an allowed licence. Replace them, or allow the licence by adding it to .ci/tools/licences.\n", bad, len(modules))
		os.Exit(1)
	}
	fmt.Printf("%d modules are linked", len(modules))
	for i, id := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("%s %d %s", map[bool]string{true: ":", false: ","}[i == 0], count[id], id)
	}
	fmt.Println()
}

// module is a third-party module with the directories of its linked packages.
type module struct {
	Path, Version, Dir string
	packages           []string
}

// linked returns the third-party modules that the module in dir links on any system, excluding those used only by its
// tests.
func linked(dir string) ([]*module, error) {
	var all []*module
	for _, system := range systems {
		list := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, roots...)...)
		list.Dir = dir
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main { // the standard library, or this module
				continue
			}
			i := slices.IndexFunc(all, func(m *module) bool { return m.Path == p.Module.Path })
			if i < 0 {
				i, all = len(all), append(all, &module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir})
			}
			all[i].packages = append(all[i].packages, p.Dir)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no linked modules found in %s: the check is broken", dir)
	}
	return all, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying)([.-].*)?$`)

// licences returns the SPDX ids of a module's licences. It reads the licence files in the module's root, in each
// package's directory and in the directories between them, because code in subdirectories may have a different origin.
func (m *module) licences() (ids []string, err error) {
	files, err := licenceFiles(m.Dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no licence file")
	}
	for _, dir := range m.packages {
		for ; len(dir) > len(m.Dir); dir = filepath.Dir(dir) {
			more, err := licenceFiles(dir)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fileIDs, err := identify(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		ids = append(ids, fileIDs...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func licenceFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// identify returns the ids of the licences in a text. It fails if any of them is not allowed, or if less than minMatch
// percent of the text matches known licences.
func identify(text []byte) (ids []string, err error) {
	found := licensecheck.Scan(text)
	for _, m := range found.Match {
		if m.IsURL {
			continue
		}
		if !slices.Contains(allowed, m.ID) {
			return nil, fmt.Errorf("the licence %s is not allowed", m.ID)
		}
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 || found.Percent < minMatch {
		return nil, fmt.Errorf("the text is not a known licence: only %.0f%% of it matches", found.Percent)
	}
	return ids, nil
}
