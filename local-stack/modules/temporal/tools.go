//go:build tools

// Package tools pins the program that this module builds.
package tools

import _ "github.com/temporalio/cli/cmd/temporal"
