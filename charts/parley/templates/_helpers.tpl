{{/* The roles, in the order in which they are made. */}}
{{- define "parley.roles" -}}
{{- list "operator" "api" "worker" "dispatcher" "voice" | toJson -}}
{{- end -}}

{{/*
{root, role}: the values of a role: its own laid over `defaults`. The Jobs and the pod of `helm test` have those of `migrations`; without a
role they are the defaults alone. JSON.
*/}}
{{- define "parley.valuesOf" -}}
{{- $own := dict -}}
{{- with .role -}}
{{- $own = index $.root.Values (ternary . "migrations" (has . (include "parley.roles" $ | fromJsonArray))) -}}
{{- end -}}
{{- $values := mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) -}}
{{- range $list := list "tolerations" "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" "extraContainers" "initContainers" -}}
{{- $_ := set $values $list (concat (index $.root.Values.defaults $list) (index $own $list | default list)) -}}
{{- end -}}
{{- $values | toJson -}}
{{- end -}}

{{/* Where everything of this release is that doesn't belong to the cluster. */}}
{{- define "parley.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "parley.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* 40 characters: room for what is put behind it. */}}
{{- define "parley.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Names of what belongs to the cluster: two releases of one name in two namespaces get along. */}}
{{- define "parley.clusterName" -}}
{{- if eq (include "parley.namespace" .) (include "parley.fullname" .) -}}
{{- include "parley.fullname" . -}}
{{- else -}}
{{- printf "%s-%s" (include "parley.namespace" .) (include "parley.fullname" .) | trunc 90 -}}
{{- end -}}
{{- end -}}

{{- define "parley.selectorLabels" -}}
app.kubernetes.io/name: {{ include "parley.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* {root, component, labels}: what is given twice comes once; what is selected by can't be changed. */}}
{{- define "parley.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $own := dict
      "helm.sh/chart" $chart
      "app.kubernetes.io/version" .root.Chart.AppVersion
      "app.kubernetes.io/part-of" "parley"
      "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- with .component -}}{{- $_ := set $own "app.kubernetes.io/component" . -}}{{- end -}}
{{- $selected := include "parley.selectorLabels" .root | fromYaml -}}
{{- mergeOverwrite (dict) .root.Values.commonLabels (.labels | default dict) $own $selected | toYaml -}}
{{- end -}}

{{/* {root, name, component, annotations, labels, namespace}: everything but the name is optional; no namespace for what belongs to the cluster. */}}
{{- define "parley.metadata" -}}
{{- $root := .root -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "parley.labels" . | nindent 2 }}
{{- with merge (dict) (default (dict) .annotations) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
{root, annotations}: those of what stays when the release, or its place in it, goes: with what is in it there would go what is nowhere else.
Argo CD takes Helm's word for what is deleted with an Application alone: it prunes what is no longer in Git unless an annotation forbids it.
*/}}
{{- define "parley.keptAnnotations" -}}
{{- $argo := "argocd.argoproj.io/sync-options" -}}
{{- $given := merge (dict) (.annotations | default dict) .root.Values.commonAnnotations -}}
{{- $options := get $given $argo -}}
{{- range $option := list "Delete" "Prune" -}}
{{- if not (contains (printf "%s=" $option) $options) -}}
{{- $options = printf "%s=false,%s" $option $options | trimSuffix "," -}}
{{- end -}}
{{- end -}}
{{- merge (dict "helm.sh/resource-policy" "keep" $argo $options) $given | toYaml -}}
{{- end -}}

{{- define "parley.roleSelector" -}}
{{ include "parley.selectorLabels" .root }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{/* The values of a role: whether its number of pods is an autoscaler's business. "true" or empty. */}}
{{- define "parley.autoscaled" -}}
{{- with .autoscaling -}}
{{- if or .enabled (has (.mode | default "none") (list "hpa" "keda")) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "parley.serviceAccountName" -}}
{{- $own := (include "parley.valuesOf" . | fromJson).serviceAccount -}}
{{- if $own.name -}}
{{- $own.name -}}
{{- else if $own.create -}}
{{- printf "%s-%s" (include "parley.fullname" .root) .role -}}
{{- else -}}
{{- fail (printf "%s.serviceAccount.create is false: name the ServiceAccount that is there in %s.serviceAccount.name" .role .role) -}}
{{- end -}}
{{- end -}}

{{- define "parley.image" -}}
{{- $image := .Values.image -}}
{{- $name := $image.repository -}}
{{- with (default $image.registry .Values.global.imageRegistry) -}}{{- $name = printf "%s/%s" (trimSuffix "/" .) $name -}}{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Those of this chart and of the one that it is part of; each is a name or `{name}`. */}}
{{- define "parley.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- range concat .Values.imagePullSecrets (.Values.global.imagePullSecrets | default list) -}}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- with uniq $secrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* OpenShift gives each namespace a range of users and refuses others: there the ids are left to it, unless they are asked for. */}}
{{- define "parley.adaptsToOpenShift" -}}
{{- $adapt := .Values.openshift.adaptSecurityContext -}}
{{- if or (eq $adapt "force") (and (eq $adapt "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}true{{- end -}}
{{- end -}}

{{/* {root, role} */}}
{{- define "parley.podSecurityContext" -}}
{{- $context := (include "parley.valuesOf" . | fromJson).podSecurityContext -}}
{{- if include "parley.adaptsToOpenShift" .root -}}
{{- $context = omit $context "runAsUser" "runAsGroup" "fsGroup" -}}
{{- end -}}
{{- with $context }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* {root, role} */}}
{{- define "parley.containerSecurityContext" -}}
{{- $context := (include "parley.valuesOf" . | fromJson).containerSecurityContext -}}
{{- if include "parley.adaptsToOpenShift" .root -}}
{{- $context = omit $context "runAsUser" "runAsGroup" -}}
{{- end -}}
{{- with $context }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* {quantity}: of memory or disk, in MiB, rounded down. */}}
{{- define "parley.mebibytes" -}}
{{- $number := regexFind "^[0-9.]+" (toString .quantity) | float64 -}}
{{- $unit := regexFind "[A-Za-z]*$" (toString .quantity) -}}
{{- $factors := dict "" 0.00000095367431640625 "k" 0.00095367431640625 "Ki" 0.0009765625 "M" 0.95367431640625 "Mi" 1.0 "G" 953.67431640625 "Gi" 1024.0 "T" 953674.31640625 "Ti" 1048576.0 -}}
{{- int64 (mulf $number (get $factors $unit | default 1.0)) -}}
{{- end -}}

{{/* {value}: as the process reads it. Numbers of YAML are floats for Helm, and would be written with an exponent. */}}
{{- define "parley.text" -}}
{{- if and (kindIs "float64" .value) (eq (floor .value) .value) -}}{{- int64 .value -}}
{{- else if or (kindIs "slice" .value) (kindIs "map" .value) -}}{{- toJson .value -}}
{{- else -}}{{- toString .value -}}
{{- end -}}
{{- end -}}

{{/* Whether a value of config sets its variable: neither empty nor null, which takes away what a file before has set. "true" or empty. */}}
{{- define "parley.isGiven" -}}
{{- if not (has (toString .) (list "" "<nil>")) -}}true{{- end -}}
{{- end -}}

{{/* {root, role, name}: what a variable will be: of extraEnv, of the role, of all, or the default of the configuration. Empty where it has none. */}}
{{- define "parley.setting" -}}
{{- $config := .root.Files.Get "generated/defaults.json" | fromJson -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
{{- range $given := list .root.Values.config ($own.config | default dict) -}}
{{- range $name, $value := $given -}}{{- if include "parley.isGiven" $value -}}{{- $_ := set $config $name $value -}}{{- end -}}{{- end -}}
{{- end -}}
{{- range $own.extraEnv -}}
{{- if hasKey . "value" -}}{{- $_ := set $config .name .value -}}{{- end -}}
{{- end -}}
{{- if hasKey $config .name -}}{{- include "parley.text" (dict "value" (index $config .name)) -}}{{- end -}}
{{- end -}}

{{/* {root, role, name}: whether a variable comes from where the chart cannot look: a Secret, a ConfigMap. "true" or empty. */}}
{{- define "parley.elsewhere" -}}
{{- $secret := index (.root.Values.secrets | default dict) .name | default dict -}}
{{- $found := "" -}}
{{- if and $secret.name (or (not .role) (not $secret.roles) (has .role $secret.roles)) -}}{{- $found = "true" -}}{{- end -}}
{{- range (include "parley.valuesOf" . | fromJson).extraEnv -}}
{{- if eq .name $.name -}}{{- $found = ternary "true" "" (hasKey . "valueFrom") -}}{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{/* {root, role} */}}
{{- define "parley.port" -}}
{{- $port := include "parley.setting" (dict "root" .root "role" .role "name" (printf "PARLEY_%s_PORT" (upper .role))) -}}
{{- if eq (int $port) 0 -}}
{{- fail (printf "config.PARLEY_%s_PORT is 0, which takes any free port: in a cluster it has to be a known one; leave it out" (upper .role)) -}}
{{- end -}}
{{- $port -}}
{{- end -}}

{{/* {root, role}: of its Service. */}}
{{- define "parley.servicePort" -}}
{{- (include "parley.valuesOf" . | fromJson).service.port | default (ternary "80" (include "parley.port" .) (eq .role "api")) -}}
{{- end -}}

{{/* Seconds, from milliseconds, rounded up. */}}
{{- define "parley.seconds" -}}
{{- div (add (int64 .) 999) 1000 -}}
{{- end -}}

{{- define "parley.terminationGracePeriodSeconds" -}}
{{- $own := include "parley.valuesOf" . | fromJson -}}
{{- if not (kindIs "invalid" $own.terminationGracePeriodSeconds) -}}
{{- int64 $own.terminationGracePeriodSeconds -}}
{{- else if eq .role "voice" -}}
{{- /* As long as calls are waited for, and a minute for what follows the last one. The pause before SIGTERM is taken from it, too. */ -}}
{{- add (include "parley.seconds" (include "parley.setting" (dict "root" .root "role" .role "name" "PARLEY_VOICE_DRAIN_MS"))) (int64 $own.preStopSeconds) 60 -}}
{{- else -}}
{{- add (include "parley.seconds" (include "parley.setting" (dict "root" .root "role" .role "name" "PARLEY_SHUTDOWN_TIMEOUT_MS"))) (int64 $own.preStopSeconds) 5 -}}
{{- end -}}
{{- end -}}

{{/* The names of the organisations that are given here, and what they are to be like: a JSON list. */}}
{{- define "parley.organizations" -}}
{{- $all := list -}}
{{- range .Values.organizations -}}
{{- $one := . -}}
{{- if kindIs "string" . -}}{{- $one = dict "name" . -}}{{- end -}}
{{- $all = append $all (mergeOverwrite (dict "createNamespace" true "labels" (dict) "annotations" (dict)) $one) -}}
{{- end -}}
{{- $all | toJson -}}
{{- end -}}

{{/* A folder, where files are kept in one. Empty with a bucket, which an address in a Secret is taken for. */}}
{{- define "parley.filesFolder" -}}
{{- $variable := dict "root" . "name" "STORAGE_URL" -}}
{{- $url := include "parley.setting" $variable -}}
{{- $hidden := or (include "parley.elsewhere" $variable) (and .Values.defaults.extraEnvFrom (not .Values.config.STORAGE_URL) (not (include "parley.claimName" .))) -}}
{{- if and (hasPrefix "file://" $url) (not $hidden) -}}{{- trimPrefix "file://" $url | splitList "?" | first -}}{{- end -}}
{{- end -}}

{{- define "parley.claimName" -}}
{{- $claim := .Values.storage.persistentVolumeClaim -}}
{{- default (ternary (printf "%s-files" (include "parley.fullname" .)) "" $claim.create) $claim.existingClaim -}}
{{- end -}}

{{/* {root, role, name}: whether a variable has a value from anywhere: config, secrets, extraEnv. "true" or empty. */}}
{{- define "parley.isSet" -}}
{{- if or (include "parley.setting" .) (include "parley.elsewhere" .) -}}true{{- end -}}
{{- end -}}
