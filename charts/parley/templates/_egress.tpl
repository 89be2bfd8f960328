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

{{/* {root, role}: destinations outside. Nothing where there are none: a rule without destinations would let everything through. */}}
{{- define "parley.outside" -}}
{{- $external := .root.Values.networkPolicy.external }}
{{- range $external.cidrs }}
- ipBlock:
    cidr: {{ . }}
    {{- $except := ternary $external.exceptIPv6 $external.exceptIPv4 (contains ":" .) }}
    {{- if and $except (hasSuffix "/0" .) }}
    except:
      {{- toYaml $except | nindent 6 }}
    {{- end }}
{{- end }}
{{- range splitList "," (include "parley.setting" (dict "root" .root "role" .role "name" "PARLEY_EGRESS_ALLOW_CIDRS")) }}
{{- with trim . }}
- ipBlock:
    cidr: {{ ternary . (include "parley.machine" (dict "address" .)) (contains "/" .) }}
{{- end }}
{{- end }}
{{- with $external.extra }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "parley.dnsRule" -}}
# Name resolution.
- ports:
    {{- range .Values.networkPolicy.dns.ports }}
    - port: {{ int64 . }}
      protocol: UDP
    - port: {{ int64 . }}
      protocol: TCP
    {{- end }}
  {{- with .Values.networkPolicy.dns.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
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

The pod of `helm test` has DNS and the roles, in networkpolicies.yaml.
*/}}
{{- define "parley.egress" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $policy := $root.Values.networkPolicy }}
{{ include "parley.dnsRule" $root | trim }}
# Postgres.
{{ include "parley.egressRule" $policy.database }}
{{- if not (has $role (list "migrate" "register")) }}
# The API server.
{{ include "parley.egressRule" $policy.kubernetesApi }}
# Temporal.
{{ include "parley.addressRule" (dict "root" $root "role" $role "name" "TEMPORAL_ADDRESS" "to" $policy.temporal.to "ports" $policy.temporal.ports "usual" (list "7233")) }}
{{- $collector := "" }}
{{- range $name := list "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" }}
{{- if include "parley.isSet" (dict "root" $root "role" $role "name" $name) }}{{- $collector = $name }}{{- end }}
{{- end }}
{{- with $collector }}
# The collector of traces.
{{ include "parley.addressRule" (dict "root" $root "role" $role "name" . "to" $policy.collector.to "ports" list "usual" (list "80" "443" "4318")) }}
{{- end }}
{{- if and (ne $role "dispatcher") (or $policy.livekit.ports (include "parley.isSet" (dict "root" $root "role" $role "name" "LIVEKIT_URL"))) }}
# The media server.
{{ include "parley.addressRule" (dict "root" $root "role" $role "name" "LIVEKIT_URL" "to" $policy.livekit.to "ports" $policy.livekit.ports "usual" (list "443" "7880")) }}
{{- end }}
{{- if eq $role "voice" }}
{{- if or $policy.livekit.mediaUDP $policy.livekit.mediaTCP }}
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
{{- end }}
{{- if has $role (list "api" "worker" "voice") }}
{{- $vectors := dict "root" $root "role" $role "name" "VECTOR_STORE_URL" }}
{{- if or (include "parley.elsewhere" $vectors) (hasPrefix "milvus" (include "parley.setting" $vectors)) }}
# Milvus.
{{ include "parley.egressRule" $policy.vectorStore }}
{{- end }}
{{- if not (include "parley.filesFolder" $root) }}
# The bucket.
{{ include "parley.egressRule" (dict "to" $policy.storage.to "ports" (include "parley.storagePorts" . | fromJsonArray)) }}
{{- end }}
{{- end }}
{{- if ne $role "operator" }}
{{- with include "parley.dnsServerRules" (dict "servers" (include "parley.setting" (dict "root" $root "role" $role "name" "PARLEY_EGRESS_DNS_SERVERS"))) | trim }}
# Name resolution for the world outside.
{{ . }}
{{- end }}
{{- with include "parley.outside" . | trim }}
# The world outside, and what PARLEY_EGRESS_ALLOW_CIDRS lets in of the inside.
- ports:
    {{- include "parley.outsidePorts" $ | trim | nindent 4 }}
  to:
    {{- . | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

