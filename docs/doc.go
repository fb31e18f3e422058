// Package docs contains the documentation and the tests that run every command on its pages.
package docs
