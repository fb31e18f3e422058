package client_test

import (
	"bytes"
	"context"
	"fmt"
)

// gatekeeperd restore reads the backup, and gkctl snapshot inspect shows its contents.
func ExampleClient_SaveSnapshot() {
	clients, end := connect("ops")
	defer end()

	var file bytes.Buffer
	if err := clients[0].SaveSnapshot(context.Background(), &file); err != nil {
		fmt.Println(err)
		return
	}
	header, _ := file.ReadString('\n') // always present
	fmt.Print(header)
	// Output: gatekeeper backup 1
}
