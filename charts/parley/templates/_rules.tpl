{{/*
What each role may do. {root, role, of}: `cluster` is what it may do everywhere (or in the one namespace), `organization` what it may do in the
namespace of an organisation alone. Values of Secrets are only ever in the second.
*/}}
{{- define "parley.rules" -}}
{{- $kinds := list "agents" "tools" "phonenumbers" "knowledgebases" "webhooksubscriptions" "agenttests" -}}
{{- $statuses := list -}}
{{- $finalizers := list -}}
{{- range $kinds -}}
{{- $statuses = append $statuses (printf "%s/status" .) -}}
{{- $finalizers = append $finalizers (printf "%s/finalizers" .) -}}
{{- end -}}
{{- if eq .of "cluster" -}}
{{- if eq .role "operator" }}
- apiGroups: [parley.dev]
  resources: {{ toJson $kinds }}
  # patch: finalizers only. The spec belongs to people and to the REST API.
  verbs: [get, list, watch, patch]
- apiGroups: [parley.dev]
  resources: {{ toJson $statuses }}
  verbs: [get, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if not .root.Values.namespaced }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
{{- end }}
{{- else if eq .role "api" }}
- apiGroups: [parley.dev]
  resources: {{ toJson $kinds }}
  verbs: [get, list, watch]
{{- if not .root.Values.namespaced }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- end }}
{{- else if eq .role "worker" }}
- apiGroups: [parley.dev]
  resources: [webhooksubscriptions, agents]
  verbs: [get, list, watch]
{{- else if eq .role "dispatcher" }}
- apiGroups: [parley.dev]
  resources: [webhooksubscriptions, agents]
  verbs: [get, list, watch]
- apiGroups: [parley.dev]
  resources: [webhooksubscriptions/status]
  verbs: [patch]
{{- end -}}
{{- else -}}
{{- if eq .role "operator" }}
- apiGroups: [""]
  # create and patch: the signing Secrets that it generates. They go with their owner.
  resources: [secrets]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  # patch: the owner of a long prompt that a restore has left without one.
  resources: [configmaps]
  verbs: [get, list, watch, patch]
{{- else if eq .role "api" }}
- apiGroups: [parley.dev]
  resources: {{ toJson $kinds }}
  verbs: [create, update, patch, delete]
- apiGroups: [parley.dev]
  # `required` of a test over REST, as an admission policy asks for it.
  resources: [agenttests]
  verbs: [require]
- apiGroups: [parley.dev]
  # The owner of the Secrets below; some clusters ask for it.
  resources: {{ toJson $finalizers }}
  verbs: [update]
- apiGroups: [""]
  # Credentials and long prompts that come over REST.
  resources: [secrets, configmaps]
  verbs: [get, list, create, update, patch, delete]
{{- else if or (eq .role "worker") (eq .role "dispatcher") }}
- apiGroups: [""]
  # list and watch: names and versions only; values are read one by one.
  resources: [secrets]
  verbs: [get, list, watch]
{{- else if eq .role "voice" }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
{{- end -}}
{{- end -}}
{{- end -}}
