// Package docs holds the pages for people, and the test that runs every command on them.
package docs
