//go:build tools

// Package tools pins the program that this module builds.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
