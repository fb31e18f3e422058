package client_test

import (
	"bytes"
	"context"
	"fmt"
)

// gatekeeperd restore reads what is written, and gkctl snapshot inspect shows what is in it.
func ExampleClient_SaveSnapshot() {
	clients, end := connect("ops")
	defer end()

	var file bytes.Buffer
	if err := clients[0].SaveSnapshot(context.Background(), &file); err != nil {
		fmt.Println(err)
		return
	}
	begins, _ := file.ReadString('\n') // there is one
	fmt.Print(begins)
	// Output: gatekeeper backup 1
}
