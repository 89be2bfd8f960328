{{/* {ports}: as TCP ports of a rule. */}}
{{- define "parley.tcpPorts" -}}
{{- range .ports }}
- port: {{ int64 . }}
  protocol: TCP
{{- end }}
{{- end -}}

{{/* {to, ports}: one rule; anywhere where `to` is empty. */}}
{{- define "parley.egressRule" -}}
- ports:
    {{- include "parley.tcpPorts" . | trim | nindent 4 }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The port of host:port or of an address; the usual one of its scheme where it says none. {address, fallback} */}}
{{- define "parley.portOf" -}}
{{- $host := regexReplaceAll "^[a-z+]+://" .address "" -}}
{{- $host = regexReplaceAll "[/?#].*$" $host "" -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- if $port -}}{{- $port -}}
{{- else if regexMatch "^(wss|https)://" .address -}}443
{{- else if regexMatch "^(ws|http)://" .address -}}80
{{- else -}}{{- .fallback -}}
{{- end -}}
{{- end -}}

{{/*
{root, role}: where a role has to get to.

                  DNS  API server  Postgres  Temporal  LiveKit  media  vectors  bucket  outside
  operator         x       x          x         x         x
  api              x       x          x         x         x               x        x       x (embedding models)
  worker           x       x          x         x         x               x        x       x
  dispatcher       x       x          x         x                                          x
  voice            x       x          x         x         x       x       x        x       x
  migrate, register x               x
*/}}
{{- define "parley.egress" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $policy := $root.Values.networkPolicy }}
# Name resolution.
- ports:
    {{- range $policy.dns.ports }}
    - port: {{ int64 . }}
      protocol: UDP
    - port: {{ int64 . }}
      protocol: TCP
    {{- end }}
  {{- with $policy.dns.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
# Postgres.
{{ include "parley.egressRule" $policy.database }}
{{- if not (has $role (list "migrate" "register")) }}
# The API server.
{{ include "parley.egressRule" $policy.kubernetesApi }}
# Temporal.
{{ include "parley.egressRule" (dict "to" $policy.temporal.to "ports" (list (include "parley.portOf" (dict "address" (include "parley.setting" (dict "root" $root "role" $role "name" "TEMPORAL_ADDRESS")) "fallback" "7233") | int))) }}
{{- $collector := include "parley.setting" (dict "root" $root "role" $role "name" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") | default (include "parley.setting" (dict "root" $root "role" $role "name" "OTEL_EXPORTER_OTLP_ENDPOINT")) }}
{{- if $collector }}
# The collector of traces.
{{ include "parley.egressRule" (dict "to" $policy.collector.to "ports" (list (include "parley.portOf" (dict "address" $collector "fallback" "80") | int))) }}
{{- end }}
{{- $livekit := include "parley.setting" (dict "root" $root "role" $role "name" "LIVEKIT_URL") }}
{{- if and $livekit (ne $role "dispatcher") }}
# The media server.
{{ include "parley.egressRule" (dict "to" $policy.livekit.to "ports" (list (include "parley.portOf" (dict "address" $livekit "fallback" "443") | int))) }}
{{- end }}
{{- if eq $role "voice" }}
# Its media.
- ports:
    {{- range $policy.livekit.mediaUDP }}
    - {{ merge (dict "protocol" "UDP") . | toYaml | nindent 6 | trim }}
    {{- end }}
    {{- range $policy.livekit.mediaTCP }}
    - {{ merge (dict "protocol" "TCP") . | toYaml | nindent 6 | trim }}
    {{- end }}
  {{- with $policy.livekit.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- if has $role (list "api" "worker" "voice") }}
{{- $vectors := (index $root.Values.secrets "VECTOR_STORE_URL" | default dict).name }}
{{- if $vectors }}
# Milvus.
{{ include "parley.egressRule" $policy.vectorStore }}
{{- end }}
{{- if not (include "parley.filesFolder" $root) }}
# The bucket.
{{ include "parley.egressRule" $policy.storage }}
{{- end }}
{{- end }}
{{- if ne $role "operator" }}
# The world outside, and what PARLEY_EGRESS_ALLOW_CIDRS lets in of the inside.
- ports:
    {{- include "parley.outsidePorts" . | trim | nindent 4 }}
  to:
    {{- range $policy.external.cidrs }}
    - ipBlock:
        cidr: {{ . }}
        {{- $except := ternary $policy.external.exceptIPv6 $policy.external.exceptIPv4 (contains ":" .) }}
        {{- if and $except (hasSuffix "/0" .) }}
        except:
          {{- toYaml $except | nindent 10 }}
        {{- end }}
    {{- end }}
    {{- range splitList "," (include "parley.setting" (dict "root" $root "role" $role "name" "PARLEY_EGRESS_ALLOW_CIDRS")) }}
    {{- with trim . }}
    - ipBlock:
        cidr: {{ ternary . (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) (contains "/" .) }}
    {{- end }}
    {{- end }}
    {{- with $policy.external.extra }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The ports of PARLEY_EGRESS_PORTS, and those of mail for tools. */}}
{{- define "parley.outsidePorts" -}}
{{- range splitList "," (include "parley.setting" (dict "root" .root "role" .role "name" "PARLEY_EGRESS_PORTS")) }}
{{- $range := splitList "-" (trim .) }}
- port: {{ first $range | int }}
  {{- if gt (len $range) 1 }}
  endPort: {{ last $range | int }}
  {{- end }}
  protocol: TCP
{{- end }}
{{- if eq .role "voice" }}
- port: 465
  protocol: TCP
- port: 587
  protocol: TCP
{{- end }}
{{- end -}}
