{{/* {root, name}: labels of a server. The first one is selected by. */}}
{{- define "demo.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/part-of: parley-demo
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{/* {root, name}: the start of every object of a server. */}}
{{- define "demo.metadata" -}}
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "demo.labels" . | nindent 4 }}
{{- end -}}

{{/* {user}: what the restricted Pod Security Standard asks of a pod. */}}
{{- define "demo.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "demo.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* {root, name, user}: a Deployment up to its containers. One pod, never two: its volume is for one. */}}
{{- define "demo.deployment" -}}
apiVersion: apps/v1
kind: Deployment
{{ include "demo.metadata" . }}
spec:
  replicas: 1
  strategy: { type: Recreate }
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
      app.kubernetes.io/instance: {{ .root.Release.Name }}
  template:
    metadata:
      labels:
        {{- include "demo.labels" . | nindent 8 }}
      annotations:
        # A changed password or configuration replaces the pod.
        checksum/secret: {{ include "demo.secretData" .root | sha256sum }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "demo.podSecurity" . | nindent 6 }}
{{- end -}}

{{/* {root, name, size}: the volume of a server. */}}
{{- define "demo.claim" -}}
apiVersion: v1
kind: PersistentVolumeClaim
{{ include "demo.metadata" . }}
spec:
  accessModes: [ReadWriteOnce]
  {{- with .root.Values.storage.className }}
  storageClassName: {{ . }}
  {{- end }}
  resources: { requests: { storage: {{ .size }} } }
{{- end -}}

{{/* {root, name, ports}: a Service; each port is `{name, port, protocol}`. */}}
{{- define "demo.service" -}}
apiVersion: v1
kind: Service
{{ include "demo.metadata" . }}
spec:
  selector:
    app.kubernetes.io/name: {{ .name }}
    app.kubernetes.io/instance: {{ .root.Release.Name }}
  ports:
    {{- toYaml .ports | nindent 4 }}
{{- end -}}

{{/* Passwords: those that are there, and new ones at the first installation. They are made once in a run of Helm. JSON. */}}
{{- define "demo.passwords" -}}
{{- $known := (lookup "v1" "Secret" .Release.Namespace "parley-demo").data | default dict -}}
{{- range $name := list "postgres-password" "livekit-secret" -}}
{{- if not (hasKey $.Values $name) -}}
{{- $_ := set $.Values $name (ternary (index $known $name | default "" | b64dec) (randAlphaNum 32) (hasKey $known $name)) -}}
{{- end -}}
{{- end -}}
{{- pick .Values "postgres-password" "livekit-secret" | toJson -}}
{{- end -}}

{{- define "demo.secretData" -}}
{{- $passwords := include "demo.passwords" . | fromJson -}}
{{- $postgres := index $passwords "postgres-password" -}}
{{- $livekit := index $passwords "livekit-secret" -}}
postgres-password: {{ $postgres }}
database-url: postgres://parley:{{ $postgres }}@postgres:5432/postgres
livekit-secret: {{ $livekit }}
livekit.yaml: |
  port: 7880
  rtc:
    tcp_port: 7881
    udp_port: 7882
    use_external_ip: false
    # Behind kubectl port-forward a browser sends its sound to 127.0.0.1:7881.
    enable_loopback_candidate: true
    {{- with .Values.livekit.nodeAddress }}
    node_ip: {{ . | quote }}
    {{- end }}
  room: { auto_create: false }
  keys: { {{ .Values.parley.config.LIVEKIT_API_KEY }}: {{ $livekit }} }
  webhook:
    api_key: {{ .Values.parley.config.LIVEKIT_API_KEY }}
    urls: ["http://parley-api/internal/livekit/events"]
  logging: { level: info, json: true }
{{- end -}}
