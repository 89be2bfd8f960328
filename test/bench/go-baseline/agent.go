package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "parley.dev", Version: "v1beta1"}

// Agent is as much of the resource as the loop reads. The spec stays raw: the
// cache holds all of it, as a controller's would, but nothing decodes it, which
// is the cheapest that Go can be.
type Agent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   runtime.RawExtension `json:"spec,omitempty"`
	Status AgentStatus          `json:"status,omitempty"`
}

// AgentStatus holds the conditions, keyed by type.
type AgentStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// AgentList is what the API server answers to a list.
type AgentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Agent `json:"items"`
}

// DeepCopyInto copies the receiver into out.
func (a *Agent) DeepCopyInto(out *Agent) {
	*out = *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	a.Spec.DeepCopyInto(&out.Spec)
	if a.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(a.Status.Conditions))
		for i := range a.Status.Conditions {
			a.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
}

// DeepCopyObject makes Agent a runtime.Object.
func (a *Agent) DeepCopyObject() runtime.Object {
	out := &Agent{}
	a.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes AgentList a runtime.Object.
func (l *AgentList) DeepCopyObject() runtime.Object {
	out := &AgentList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Agent, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
	return out
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &Agent{}, &AgentList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return scheme
}
