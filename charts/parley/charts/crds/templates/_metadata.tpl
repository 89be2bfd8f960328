{{/* What each definition has in addition to its name. */}}
{{- define "crds.metadata" -}}
labels:
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
  app.kubernetes.io/name: {{ .Chart.Name }}
  app.kubernetes.io/instance: {{ .Release.Name }}
  app.kubernetes.io/version: {{ .Chart.AppVersion }}
  app.kubernetes.io/component: definitions
  app.kubernetes.io/part-of: parley
  app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- $annotations := merge (dict) (.Values.annotations | default dict) }}
{{- if .Values.keep }}
{{- /* Argo CD takes Helm's word for what is deleted with an Application alone: it prunes what is no longer in Git unless an annotation forbids it. */}}
{{- $argo := "argocd.argoproj.io/sync-options" }}
{{- $options := get $annotations $argo }}
{{- range $option := list "Delete" "Prune" }}
{{- if not (contains (printf "%s=" $option) $options) }}
{{- $options = printf "%s=false,%s" $option $options | trimSuffix "," }}
{{- end }}
{{- end }}
{{- $annotations = merge (dict "helm.sh/resource-policy" "keep" $argo $options) $annotations }}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
