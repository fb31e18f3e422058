package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// The formats of -o.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
)

// outputFlag is -o.
type outputFlag struct {
	format    string
	noHeaders bool
	formats   []string
}

func (o *outputFlag) register(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().VarP(o, "output", "o", "format: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // its only error: no such flag
	if slices.Contains(formats, formatWide) {
		cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "leave the headers of a table out")
	}
}

// String, Set and Type make it a flag.
func (o *outputFlag) String() string {
	if o.format == "" && len(o.formats) > 0 {
		return o.formats[0]
	}
	return o.format
}

func (o *outputFlag) Set(s string) error {
	if !slices.Contains(o.formats, s) {
		return fmt.Errorf("must be one of %s", strings.Join(o.formats, ", "))
	}
	o.format = s
	return nil
}

func (o *outputFlag) Type() string { return "FORMAT" }

// is says whether the format was asked for.
func (o *outputFlag) is(format string) bool { return o.String() == format }

// row is a line of a table.
type row struct {
	name  string // for -o name
	cells []string
	more  []string // for -o wide
}

// listing is something to print in any format.
type listing struct {
	headers, more []string
	rows          []row
	// object is what json and yaml print: a proto.Message, an items, or anything that encoding/json takes.
	object any
	// empty is told a person when there are no rows.
	empty string
}

// items is how lists are wrapped: {"items": [...]}, each as the API's message.
type items[M proto.Message] struct {
	Items []M
}

func (l items[M]) MarshalJSON() ([]byte, error) {
	out := struct {
		Items []json.RawMessage `json:"items"`
	}{Items: make([]json.RawMessage, len(l.Items))}
	for i, m := range l.Items {
		data, err := messageJSON(m)
		if err != nil {
			return nil, err
		}
		out.Items[i] = data
	}
	return json.Marshal(out)
}

// messageJSON is protobuf's JSON with the API's own field names: 64-bit numbers are strings, as everywhere in protobuf's JSON.
func messageJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, data) // protojson's blanks vary by build, so that nobody relies on them
	return b.Bytes(), err
}

// joined is JSON of one object with the fields of both: of a message, and of what gkctl adds to it.
func joined(m proto.Message, more any) (json.RawMessage, error) {
	data, err := messageJSON(m)
	if err != nil {
		return nil, err
	}
	added, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	if len(data) > len("{}") && len(added) > len("{}") {
		return append(append(data[:len(data)-1], ','), added[1:]...), nil
	}
	if len(data) > len("{}") {
		return data, nil
	}
	return added, nil
}

// toJSON is an object on one line.
func toJSON(object any) ([]byte, error) {
	if m, ok := object.(proto.Message); ok {
		return messageJSON(m)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(object)
	return bytes.TrimSpace(b.Bytes()), err
}

// toYAML is JSON as block YAML, in the same order.
func toYAML(data []byte) ([]byte, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return nil, err
	}
	plain(&n)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&n); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// plain takes JSON's braces and quotes off; the encoder quotes what needs it.
func plain(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode || len(n.Content) > 0 {
		n.Style = 0
	}
	for _, c := range n.Content {
		plain(c)
	}
}

// print prints a listing.
func (s *streams) print(o outputFlag, l listing) error {
	switch o.String() {
	case formatJSON, formatYAML:
		return s.printObject(o, l.object)
	case formatName:
		for _, r := range l.rows {
			fmt.Fprintln(s.out, r.name)
		}
		return nil
	}
	if len(l.rows) == 0 {
		if l.empty != "" {
			s.say("%s", l.empty)
		}
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	line := func(cells, more []string) {
		if o.is(formatWide) {
			cells = append(slices.Clone(cells), more...)
		}
		cells = words.Mapped(cells, words.Cell)
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if !o.noHeaders {
		line(l.headers, l.more)
	}
	for _, r := range l.rows {
		line(r.cells, r.more)
	}
	return w.Flush()
}

// printObject prints an object as JSON or YAML.
func (s *streams) printObject(o outputFlag, object any) error {
	data, err := toJSON(object)
	if err != nil {
		return err
	}
	if o.is(formatYAML) {
		if data, err = toYAML(data); err != nil {
			return err
		}
		_, err = s.out.Write(data)
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = s.out.Write(b.Bytes())
	return err
}
