package edit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// fileFlags holds -f (files, directories, or - for standard input), --prune, and -l, the label selector for the
// definitions that --prune may delete.
type fileFlags struct {
	paths  []string
	prune  bool
	labels string
}

// register adds the flags. prune and labels are the help text for --prune and -l.
func (f *fileFlags) register(cmd *cobra.Command, prune, labels string) {
	cmd.Flags().StringArrayVarP(&f.paths, "filename", "f", nil, "`FILE` with definitions, a directory of definition files, or - for standard input; may be repeated")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json") // fails only if there is no such flag
	cmd.Flags().BoolVar(&f.prune, "prune", false, prune)
	ui.RegisterSelector(cmd, &f.labels, labels)
}

// read reads all files. It returns an error if a name appears twice.
func (f *fileFlags) read(in io.Reader) ([]*deffile.File, error) {
	switch {
	case f.prune && f.labels == "":
		return nil, ui.Usagef("--prune requires -l: the labels of the definitions that it may delete")
	case !f.prune && f.labels != "":
		return nil, ui.Usagef("-l requires --prune")
	case len(f.paths) == 0:
		return nil, ui.Usagef("specify -f FILE, or -f - for standard input")
	}
	var files []*deffile.File
	first := make(map[string]string) // where each name first appeared
	for _, path := range f.paths {
		names, err := expand(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			file, err := readFile(name, in)
			if err != nil {
				return nil, err
			}
			for i, e := range file.Entries {
				at := e.Position("name")
				if where, twice := first[e.Definition.GetName()]; twice {
					return nil, file.Errorf(i, "name", "the name %q appears twice: first at %s", e.Definition.GetName(), where)
				}
				first[e.Definition.GetName()] = fmt.Sprintf("%s:%d", file.Name, at.Line)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// expand returns the definition files in a directory, or path itself if it is not a directory.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.IsDir() {
		return []string{path}, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		return nil, unreadable(err)
	}
	var names []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, &ui.CodeError{Code: ui.ExitBadInput, Err: fmt.Errorf("the directory %s contains no *.yaml, *.yml or *.json files", path)}
	}
	return names, nil
}

// unreadable returns an error that names the file and the reason, but not the system call.
func unreadable(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Path, e.Err)
		if errors.Is(e.Err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file", e.Path)
		}
	}
	return &ui.CodeError{Code: ui.ExitBadInput, Err: err}
}

func readFile(name string, in io.Reader) (*deffile.File, error) {
	var data []byte
	var err error
	if name == "-" {
		name = "standard input"
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return deffile.Parse(name, data)
}
