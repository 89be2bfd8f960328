{{/*
{root, role}: the environment of a role. What is given last wins: config of all, config of the role, secrets, extraEnv; each name comes once,
for lists with a name twice can't be applied. `migrate` stands for the Jobs, which take of it what their work needs.
*/}}
{{- define "parley.env" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
{{- $env := dict -}}
{{- $_ := set $env "PARLEY_HOST" (dict "value" "0.0.0.0") -}}
{{- $_ := set $env "PARLEY_LEASE_NAMESPACE" (dict "value" (include "parley.namespace" $root)) -}}
{{- $_ := set $env "PARLEY_IDENTITY" (dict "valueFrom" (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" "metadata.name"))) -}}
{{- $_ := set $env "HOME" (dict "value" "/tmp") -}}
{{- if $root.Values.namespaced -}}
{{- $_ := set $env "PARLEY_NAMESPACE" (dict "value" (include "parley.namespace" $root)) -}}
{{- end -}}
{{- if eq $role "voice" -}}
{{- $_ := set $env "PARLEY_VOICE_SPOOL" (dict "value" "/var/lib/parley/spool/recordings") -}}
{{- end -}}
{{- /* What loads leave behind: arenas of the C library for each thread, and the space for new objects (ADR 65). */ -}}
{{- if eq $role "worker" -}}
{{- $_ := set $env "MALLOC_ARENA_MAX" (dict "value" "2") -}}
{{- $_ := set $env "NODE_OPTIONS" (dict "value" "--max-semi-space-size=16") -}}
{{- end -}}
{{- range $config := list $root.Values.config ($own.config | default dict) -}}
{{- range $name, $value := $config -}}
{{- if include "parley.isGiven" $value -}}{{- $_ := set $env $name (dict "value" (include "parley.text" (dict "value" $value))) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $reference := $root.Values.secrets -}}
{{- if and $reference $reference.name (or (not $reference.roles) (has $role $reference.roles) (eq $role "migrate")) -}}
{{- $selector := dict "name" $reference.name "key" $reference.key -}}
{{- if $reference.optional -}}{{- $_ := set $selector "optional" true -}}{{- end -}}
{{- $_ := set $env $name (dict "valueFrom" (dict "secretKeyRef" $selector)) -}}
{{- end -}}
{{- end -}}
{{- range $given := $own.extraEnv -}}
{{- $_ := set $env $given.name (omit $given "name") -}}
{{- end -}}
{{- range $name, $entry := $env }}
- {{ merge (dict "name" $name) $entry | toYaml | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/* {root, role}: what Prometheus shows to /metrics of a role. Empty where the role asks for nothing. */}}
{{- define "parley.metricsAuthorization" -}}
{{- range include "parley.env" . | fromYamlArray }}
{{- if and (eq .name "PARLEY_METRICS_TOKEN") .valueFrom }}
authorization:
  type: Bearer
  credentials: {{ pick .valueFrom.secretKeyRef "name" "key" | toJson }}
{{- end }}
{{- end }}
{{- end -}}

{{/* {root, names}: just these of the environment, for Jobs. */}}
{{- define "parley.jobEnv" -}}
{{- $all := include "parley.env" (dict "root" .root "role" "migrate") | fromYamlArray -}}
{{- $given := list -}}
{{- range .root.Values.defaults.extraEnv -}}{{- $given = append $given .name -}}{{- end -}}
{{- $names := concat .names $given (list "HOME" "PARLEY_LOG_LEVEL") -}}
{{- range $all }}
{{- if has .name $names }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
{role}, or anything without. A tag is never moved: pulling it again at each start would only tie starts to the registry.
A limit of the processor would throttle the sound of calls: voice has none unless it is set.
*/}}
{{- define "parley.lintAnnotations" -}}
kube-score/ignore: container-image-pull-policy{{ if eq (default "" .role) "voice" }},container-resources{{ end }}
{{- end -}}

{{/* {root, role}: what every pod has of placement, names and security. */}}
{{- define "parley.podMetadata" -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
labels:
  {{- include "parley.labels" (dict "root" .root "component" .role "labels" $own.podLabels) | nindent 2 }}
{{- with mergeOverwrite (dict) .root.Values.commonAnnotations $own.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "parley.podPlacement" -}}
{{- $root := .root -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
{{- include "parley.imagePullSecrets" $root }}
{{- with include "parley.podSecurityContext" . }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- range $field := list "dnsPolicy" "runtimeClassName" "schedulerName" }}
{{- with index $own $field }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
{{- range $field := list "dnsConfig" "hostAliases" }}
{{- with index $own $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $own.podSpecExtra }}
{{ toYaml . }}
{{- end }}
{{- $class := $own.priorityClassName }}
{{- /* migrate runs before the release's own classes are made: its pod would be refused until they are, and they wait for it. */}}
{{- if and (not $class) $root.Values.priorityClasses.create (ne .role "migrate") }}
{{- $class = printf "%s-%s" (include "parley.clusterName" $root) (get (dict "voice" "voice" "worker" "worker") .role | default "api") }}
{{- end }}
{{- with $class }}
priorityClassName: {{ . }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "parley.topologySpread" -}}
{{- $root := .root -}}
{{- $selector := dict "matchLabels" (include "parley.roleSelector" . | fromYaml) -}}
{{- $given := (include "parley.valuesOf" . | fromJson).topologySpreadConstraints -}}
{{- if kindIs "invalid" $given -}}
{{- $given = list
      (dict "maxSkew" 1 "topologyKey" "topology.kubernetes.io/zone" "whenUnsatisfiable" "ScheduleAnyway")
      (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- end -}}
{{- with $given }}
topologySpreadConstraints:
  {{- range . }}
  - {{ merge (dict) . (dict "labelSelector" $selector "matchLabelKeys" (list "pod-template-hash")) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* {root, role}: /tmp, and the folder of the files where it is one. */}}
{{- define "parley.volumes" -}}
{{- $root := .root -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
- name: tmp
  emptyDir:
    {{- with $own.temporaryVolume.medium }}
    medium: {{ . }}
    {{- end }}
    sizeLimit: {{ $own.temporaryVolume.sizeLimit }}
{{- if and (has .role (list "api" "worker" "voice")) (include "parley.filesFolder" $root) }}
- name: files
  persistentVolumeClaim:
    claimName: {{ include "parley.claimName" $root }}
{{- end }}
{{- if eq .role "voice" }}
- name: spool
  emptyDir:
    {{- with $own.spool.medium }}
    medium: {{ . }}
    {{- end }}
    sizeLimit: {{ $own.spool.sizeLimit }}
{{- end }}
{{- with $own.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "parley.volumeMounts" -}}
{{- $root := .root -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
- name: tmp
  mountPath: /tmp
{{- if and (has .role (list "api" "worker" "voice")) (include "parley.filesFolder" $root) }}
- name: files
  mountPath: {{ include "parley.filesFolder" $root }}
{{- end }}
{{- if eq .role "voice" }}
- name: spool
  mountPath: /var/lib/parley/spool
{{- end }}
{{- with $own.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* {root, role, args}: image and security of a container. */}}
{{- define "parley.containerBasics" -}}
image: {{ include "parley.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .root.Values.image.command }}
command:
  {{- toYaml . | nindent 2 }}
{{- end }}
args:
  {{- toYaml .args | nindent 2 }}
{{- with include "parley.containerSecurityContext" . }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}
