// Package root assembles gkctl from the commands in the other packages. It adds help, completion, the version command,
// and the errors for invalid flags.
package root
