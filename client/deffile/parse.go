package deffile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// File is a parsed definition file.
type File struct {
	Name    string
	Entries []Entry
}

// Entry is one definition and its position in the file.
type Entry struct {
	Definition *gatekeeperv1.Definition
	// Line and Column are the position where the entry starts.
	Line, Column int
	// Fields maps each key of the entry to the position of its value. The key for the label team is "labels.team".
	Fields map[string]Position
	// Version is the value of the key "version": the version of the definition when the entry was written, or 0 if the
	// entry has none. It is not part of the definition. gkctl apply and diff reject an entry whose version is not the
	// current one. gatekeeperd --definitions ignores the version, because it only adds missing definitions.
	Version uint64
}

// Position is a 1-based line and column in a file.
type Position struct{ Line, Column int }

// Position returns the position of a field's value. If the entry does not have the field, it returns the position of
// the enclosing field, such as "labels" for "labels.key", or else the start of the entry.
func (e *Entry) Position(field string) Position {
	for {
		if p, ok := e.Fields[field]; ok {
			return p
		}
		dot := strings.LastIndexByte(field, '.')
		if dot < 0 {
			return Position{e.Line, e.Column}
		}
		field = field[:dot]
	}
}

// Definitions returns the definitions of all entries, in file order.
func (f *File) Definitions() []*gatekeeperv1.Definition {
	all := make([]*gatekeeperv1.Definition, len(f.Entries))
	for i := range f.Entries {
		all[i] = f.Entries[i].Definition
	}
	return all
}

// Errorf returns an error at the position of a field of the i-th entry. Use it to show the user where a definition
// violates one of the server's rules.
func (f *File) Errorf(i int, field, format string, args ...any) *Error {
	p := f.Entries[i].Position(field)
	return &Error{File: f.Name, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...)}
}

// Parse parses a file. name is used only in errors. Every error is an *Error and describes the first problem found.
func Parse(name string, data []byte) (*File, error) {
	p := parser{file: File{Name: name}}
	if err := p.parse(data); err != nil {
		return nil, err
	}
	return &p.file, nil
}

type parser struct{ file File }

// errorAt returns an error with the position of a node.
func (p *parser) errorAt(n *yaml.Node, format string, args ...any) error {
	return &Error{File: p.file.Name, Line: n.Line, Column: n.Column, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) parse(data []byte) error {
	if at := invalidUTF8(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte{'\n'})
		column := 1 + utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at])
		return &Error{File: p.file.Name, Line: line, Column: column, Msg: "not UTF-8 text"}
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := documents.Decode(&document); errors.Is(err, io.EOF) {
		// An empty file is probably a mistake, and pruning with it would delete every definition.
		return &Error{File: p.file.Name, Msg: `the file is empty: write "definitions: []" if that is intended`}
	} else if err != nil {
		return p.syntaxError(err)
	}
	root := document.Content[0]
	if err := p.top(root); err != nil {
		return err
	}
	if err := documents.Decode(&second); err == nil {
		return p.errorAt(&second, "the file has a second document: put all definitions into one list")
	} else if !errors.Is(err, io.EOF) {
		return p.syntaxError(err)
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not valid UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

var syntaxLine = regexp.MustCompile(`^line (\d+): `)

// syntaxError converts an error from the YAML package to an *Error. It takes the line number from the error's text; the
// column is unknown.
func (p *parser) syntaxError(err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: p.file.Name}
	if m := syntaxLine.FindStringSubmatch(msg); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // the pattern matches digits only
		msg = msg[len(m[0]):]
	}
	e.Msg = "not valid YAML: " + msg
	return e
}

// top reads the document, which is a mapping with the single key "definitions".
func (p *parser) top(root *yaml.Node) error {
	if root.Kind != yaml.MappingNode {
		return p.errorAt(root, `expected the key "definitions" with a list, not %s`, describe(root))
	}
	var list *yaml.Node
	err := p.mapping(root, []string{"definitions"}, func(_, value *yaml.Node) error {
		list = value
		return nil
	})
	if err != nil {
		return err
	}
	if list == nil {
		return p.errorAt(root, `the key "definitions" is missing`)
	}
	if err := p.checkPlain(list); err != nil {
		return err
	}
	if list.Kind != yaml.SequenceNode {
		return p.errorAt(list, "definitions must be a list, not %s", describe(list))
	}
	names := make(map[string]Position, len(list.Content))
	for _, node := range list.Content {
		entry, err := p.entry(node)
		if err != nil {
			return err
		}
		at := entry.Fields["name"]
		if first, ok := names[entry.Definition.GetName()]; ok {
			return &Error{
				File: p.file.Name, Line: at.Line, Column: at.Column,
				Msg: fmt.Sprintf("the name %q appears twice: first on line %d, again on line %d", entry.Definition.GetName(), first.Line, at.Line),
			}
		}
		names[entry.Definition.GetName()] = at
		p.file.Entries = append(p.file.Entries, entry)
	}
	return nil
}

// entry reads one definition.
func (p *parser) entry(n *yaml.Node) (Entry, error) {
	e := Entry{Definition: &gatekeeperv1.Definition{}, Line: n.Line, Column: n.Column, Fields: make(map[string]Position)}
	if err := p.checkPlain(n); err != nil {
		return e, err
	}
	if n.Kind != yaml.MappingNode {
		return e, p.errorAt(n, "a definition must be a mapping, not %s", describe(n))
	}
	err := p.mapping(n, append(Keys(), versionKey), func(key, value *yaml.Node) error {
		e.Fields[key.Value] = Position{value.Line, value.Column}
		return p.field(&e, key.Value, value)
	})
	if err != nil {
		return e, err
	}
	if _, ok := e.Fields["name"]; !ok {
		return e, p.errorAt(n, "this definition has no name")
	}
	return e, nil
}

// mapping calls visit for each key in a mapping. If known is not nil, any other key is rejected.
func (p *parser) mapping(n *yaml.Node, known []string, visit func(key, value *yaml.Node) error) error {
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := p.checkPlain(key); err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			return p.errorAt(key, "a key must be a string, not %s", describe(key))
		}
		if line, ok := lines[key.Value]; ok {
			return p.errorAt(key, "the key %q appears twice: first on line %d, again on line %d", key.Value, line, key.Line)
		}
		lines[key.Value] = key.Line
		if known != nil && !slices.Contains(known, key.Value) {
			return p.errorAt(key, "unknown key %q%s", key.Value, suggestion(key.Value, known))
		}
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

// checkPlain rejects YAML features that make a node's value differ from its text.
func (p *parser) checkPlain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return p.errorAt(n, "aliases are not allowed here: write the value out")
	case n.Anchor != "":
		return p.errorAt(n, "anchors are not allowed here: write each value out where it is used")
	case n.Style&yaml.TaggedStyle != 0:
		return p.errorAt(n, "tags like %s are not allowed here: quote the value to make it a string", n.Tag)
	case n.ShortTag() == "!!merge":
		return p.errorAt(n, "merging with << is not allowed here: write the keys out")
	}
	return nil
}

func suggestion(unknown string, known []string) string {
	if word := nearest.Word(unknown, known); word != "" {
		return fmt.Sprintf("; did you mean %q?", word)
	}
	return "; the known keys are " + strings.Join(known, ", ")
}
