package deffile_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const nightly = `definitions:
  - name: nightly-export
    group_pattern: prod
    duration: 1m
    version: 17
  - name: billing
    permits: 2
`

func ExampleParse() {
	file, err := deffile.Parse("jobs.yaml", []byte(nightly))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range file.Definitions() { // for client.Declare
		fmt.Println(d.GetName())
	}
	entry := file.Entries[0]
	fmt.Println("read at version", entry.Version, "with", len(entry.Fields), "fields")
	// Output:
	// nightly-export
	// billing
	// read at version 17 with 4 fields
}

// Errors contain the position in the file.
func ExampleError() {
	_, err := deffile.Parse("jobs.yaml", []byte("definitions:\n  - name: nightly-export\n    group_patern: prod\n"))
	if parseErr, ok := errors.AsType[*deffile.Error](err); ok {
		fmt.Println("line", parseErr.Line)
	}
	fmt.Println(err)
	// Output:
	// line 3
	// jobs.yaml:3:5: unknown key "group_patern"; did you mean "group_pattern"?
}

// Errorf adds the position in the file to an error from the server.
func ExampleFile_Errorf() {
	var file *deffile.File
	file, err := deffile.Parse("jobs.yaml", []byte(nightly))
	if err != nil {
		log.Fatal(err)
	}
	at := file.Entries[0].Position("group_pattern")
	fmt.Println("group_pattern is on line", at.Line)
	fmt.Println(file.Errorf(1, "permits", "%d permits are too many", 2))
	// Output:
	// group_pattern is on line 3
	// jobs.yaml:7:14: 2 permits are too many
}

func ExampleMarshal() {
	text, err := deffile.Marshal([]*gatekeeperv1.Definition{{Name: "nightly-export", GroupPattern: new("prod"), Duration: durationpb.New(90 * time.Second)}})
	fmt.Print(string(text), err)
	// Output:
	// definitions:
	//   - name: nightly-export
	//     group_pattern: prod
	//     duration: 1m30s
	// <nil>
}

// A file with versions can only be applied if the definitions still have those versions.
func ExampleMarshalRecords() {
	text, err := deffile.MarshalRecords([]*gatekeeperv1.DefinitionRecord{{Definition: &gatekeeperv1.Definition{Name: "nightly-export"}, Version: 17}})
	fmt.Print(string(text), err)
	// Output:
	// definitions:
	//   - name: nightly-export
	//     version: 17
	// <nil>
}

func ExampleKeys() {
	fmt.Println(deffile.Keys()[:4])
	// Output: [name description labels group_pattern]
}

func ExampleFormatDuration() {
	fmt.Println(deffile.FormatDuration(90*time.Minute), deffile.FormatDuration(24*time.Hour))
	// Output: 1h30m 24h
}
