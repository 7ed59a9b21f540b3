//go:build tools

// Package charts pins the programs that check what packaging/ has for Helm and Prometheus.
package charts

import (
	_ "github.com/prometheus/prometheus/cmd/promtool"
	_ "helm.sh/helm/v4/cmd/helm"
)
