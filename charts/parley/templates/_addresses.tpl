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

{{/* {root, role, name, to, ports, usual}: one rule for the address in a variable. Its port, unless `ports` names others; `usual` where the chart cannot see it. */}}
{{- define "parley.addressRule" -}}
{{- $ports := .ports -}}
{{- if not $ports -}}
{{- $ports = .usual -}}
{{- if not (include "parley.elsewhere" .) -}}
{{- $ports = list (include "parley.portOf" (dict "address" (include "parley.setting" .) "fallback" (first .usual))) -}}
{{- end -}}
{{- end -}}
{{- include "parley.egressRule" (dict "to" .to "ports" $ports) -}}
{{- end -}}

{{/* {address}: of a network of one machine. */}}
{{- define "parley.machine" -}}
{{- printf "%s/%s" .address (ternary "128" "32" (contains ":" .address)) -}}
{{- end -}}

{{/* {servers}: a rule for each of PARLEY_EGRESS_DNS_SERVERS: address, address:port or [address]:port. */}}
{{- define "parley.dnsServerRules" -}}
{{- range splitList "," .servers }}
{{- with trim . }}
{{- $address := . }}
{{- $port := "53" }}
{{- if hasPrefix "[" . }}
{{- $address = regexFind "^\\[[^]]*" . | trimPrefix "[" }}
{{- $port = regexFind "[0-9]+$" . | default "53" }}
{{- else if eq (len (splitList ":" .)) 2 }}
{{- $address = splitList ":" . | first }}
{{- $port = splitList ":" . | last }}
{{- end }}
- ports:
    - port: {{ $port }}
      protocol: UDP
    - port: {{ $port }}
      protocol: TCP
  to:
    - ipBlock:
        cidr: {{ include "parley.machine" (dict "address" $address) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The ports of the bucket: those of `networkPolicy.storage`, and that of the endpoint in STORAGE_URL. A JSON list. {root, role} */}}
{{- define "parley.storagePorts" -}}
{{- $ports := list -}}
{{- range .root.Values.networkPolicy.storage.ports -}}{{- $ports = append $ports (int64 . | toString) -}}{{- end -}}
{{- $url := include "parley.setting" (dict "root" .root "role" .role "name" "STORAGE_URL") -}}
{{- $endpoint := regexFind "[?&]endpoint=[^&]+" $url | replace "%3A" ":" | replace "%3a" ":" | replace "%2F" "/" | replace "%2f" "/" -}}
{{- with regexReplaceAll "^.endpoint=" $endpoint "" -}}
{{- $ports = append $ports (include "parley.portOf" (dict "address" . "fallback" "443")) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{/* {root, role}: the ports of PARLEY_EGRESS_PORTS, and those of mail for tools. */}}
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
{{- $mail := list "465" "587" }}
{{- range splitList "," (include "parley.setting" (dict "root" .root "role" .role "name" "PARLEY_SMTP_SERVERS")) }}
{{- with regexFind ":[0-9]+/?$" (trim .) }}{{- $mail = append $mail (trimAll ":/" .) }}{{- end }}
{{- end }}
{{- range uniq $mail }}
- port: {{ . }}
  protocol: TCP
{{- end }}
{{- end }}
{{- end -}}
