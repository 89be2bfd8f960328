// OpenTelemetry's own OTLP receiver and exporter, as its collector joins them, for a test: takes OTLP over HTTP at the first
// address, and sends it on to the second. The whole collector has twice as many packages to compile.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	metric "go.opentelemetry.io/otel/metric/noop"
	trace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// Both are configured without extensions.
type host struct{}

func (host) GetExtensions() map[component.ID]component.Component { return nil }

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	listen, target := os.Args[1], os.Args[2]
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	telemetry := component.TelemetrySettings{
		Logger:         must(zap.NewDevelopment()),
		TracerProvider: trace.NewTracerProvider(),
		MeterProvider:  metric.NewMeterProvider(),
		Resource:       pcommon.NewResource(),
	}
	configured := func(config component.Config, values map[string]any) component.Config {
		check(confmap.NewFromStringMap(values).Unmarshal(config))
		return config
	}

	exporters := otlphttpexporter.NewFactory()
	exporting := configured(exporters.CreateDefaultConfig(), map[string]any{"endpoint": target, "compression": "none"})
	to := exporter.Settings{ID: component.NewID(exporters.Type()), TelemetrySettings: telemetry}
	out := must(exporters.CreateTraces(ctx, to, exporting))

	receivers := otlpreceiver.NewFactory()
	http := map[string]any{"endpoint": listen}
	receiving := configured(receivers.CreateDefaultConfig(), map[string]any{"protocols": map[string]any{"http": http}})
	from := receiver.Settings{ID: component.NewID(receivers.Type()), TelemetrySettings: telemetry}
	in := must(receivers.CreateTraces(ctx, from, receiving, out))

	check(out.Start(ctx, host{}))
	check(in.Start(ctx, host{}))
	telemetry.Logger.Info("ready")
	<-ctx.Done()
	check(in.Shutdown(context.Background()))
	check(out.Shutdown(context.Background()))
}
