// Command go-baseline is the loop that Parley's own Kubernetes library is
// measured against: it watches Agents and writes one condition into the status
// of each that changed, by server-side apply, the way a controller written with
// controller-runtime does it. test/bench/control-plane/status-loop.ts is its twin.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type options struct {
	kubeconfig  string
	namespace   string
	condition   string
	concurrency int
}

type reconciler struct {
	client    client.Client
	condition string
}

// Reconcile writes the condition unless it already speaks of the stored generation.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var agent Agent
	if err := r.client.Get(ctx, request.NamespacedName, &agent); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	known := meta.FindStatusCondition(agent.Status.Conditions, r.condition)
	if known != nil && known.ObservedGeneration == agent.Generation {
		return ctrl.Result{}, nil
	}
	transition := metav1.Now().UTC().Format(time.RFC3339)
	if known != nil && known.Status == metav1.ConditionTrue {
		transition = known.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	status := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion.String(),
		"kind":       "Agent",
		"metadata": map[string]any{
			"name":      agent.Name,
			"namespace": agent.Namespace,
			"uid":       string(agent.UID),
		},
		"status": map[string]any{
			"conditions": []any{map[string]any{
				"type":               r.condition,
				"status":             "True",
				"observedGeneration": agent.Generation,
				"lastTransitionTime": transition,
				"reason":             "Observed",
				"message":            "",
			}},
		},
	}}
	err := r.client.Status().Patch(ctx, status, client.Apply, client.FieldOwner(r.condition), client.ForceOwnership)
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func run(ctx context.Context, o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig %q: %w", o.kubeconfig, err)
	}
	// Without client-side throttling: the API server is the only limit for both loops.
	config.QPS = -1

	mgr, err := manager.New(config, manager.Options{
		Scheme:  newScheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
	})
	if err != nil {
		return fmt.Errorf("create the manager: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&Agent{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: o.concurrency}).
		Complete(&reconciler{client: mgr.GetClient(), condition: o.condition})
	if err != nil {
		return fmt.Errorf("create the controller: %w", err)
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			fmt.Println("ready")
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("announce readiness: %w", err)
	}
	return mgr.Start(ctx)
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "config", "", "path of the kubeconfig")
	flag.StringVar(&o.namespace, "namespace", "", "namespace to watch")
	flag.StringVar(&o.condition, "condition", "", "condition type to write, also the field manager")
	flag.IntVar(&o.concurrency, "concurrency", 4, "objects handled at once")
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "go-baseline:", err)
		os.Exit(1)
	}
}
