//go:build windows || plan9

package main

// systemLog does nothing: there is no syslog.
func systemLog(string) {}
