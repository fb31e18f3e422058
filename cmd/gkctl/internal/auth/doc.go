// Package auth has the commands about who may do what: auth whoami, can-i, roles, list, bind and unbind, and auth token
// create, list and revoke. The servers decide; these commands show and change the bindings by which they do.
package auth
