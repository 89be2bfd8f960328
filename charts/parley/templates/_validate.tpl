{{/* What would only show when the pods don't start: said here, with the value to set. */}}
{{- define "parley.validate" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- $open := .Values.defaults.extraEnvFrom -}}
{{- if not (or (include "parley.isSet" (dict "root" . "name" "DATABASE_URL")) $open) -}}
{{- $problems = append $problems "There is no database. Make a Secret with its address, postgres://user:password@host:5432/database, and name it: --set secrets.DATABASE_URL.name=<Secret> --set secrets.DATABASE_URL.key=<key>" -}}
{{- end -}}
{{- $temporal := dict "root" . "name" "TEMPORAL_ADDRESS" -}}
{{- if not (or (include "parley.elsewhere" $temporal) (ne (include "parley.setting" $temporal) "127.0.0.1:7233") $open) -}}
{{- $problems = append $problems "There is no Temporal. Give its frontend's address: --set config.TEMPORAL_ADDRESS=<host>:7233" -}}
{{- end -}}
{{- $livekit := include "parley.isSet" (dict "root" . "name" "LIVEKIT_URL") -}}
{{- if and .Values.voice.enabled (not (or $livekit $open)) -}}
{{- $problems = append $problems "voice.enabled is true, and there is no media server. Give LiveKit's address: --set config.LIVEKIT_URL=wss://<host>, or do without calls: --set voice.enabled=false" -}}
{{- end -}}
{{- if and $livekit (not $open) -}}
{{- range $name := list "LIVEKIT_API_KEY" "LIVEKIT_API_SECRET" -}}
{{- if not (include "parley.isSet" (dict "root" $ "name" $name)) -}}
{{- $problems = append $problems (printf "config.LIVEKIT_URL names a media server, and %s is missing. Make a Secret with it: --set secrets.%s.name=<Secret> --set secrets.%s.key=<key>" $name $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $reference := .Values.secrets -}}
{{- if and $reference $reference.name (include "parley.isGiven" (get $values.config $name)) -}}
{{- $problems = append $problems (printf "%s is in config and in secrets: leave it out of one of them" $name) -}}
{{- end -}}
{{- end -}}
{{- if and (include "parley.filesFolder" .) (not (include "parley.claimName" .)) -}}
{{- $problems = append $problems "Files of knowledge bases and recordings need a place that api, worker and voice share. Give a bucket: --set config.STORAGE_URL=s3://<bucket>/<prefix>, or a volume: --set storage.persistentVolumeClaim.create=true, or storage.persistentVolumeClaim.existingClaim" -}}
{{- end -}}
{{- if and .Values.namespaced .Values.organizations -}}
{{- $problems = append $problems "namespaced is true: the namespace of the release is the only organisation, and organizations has to be empty" -}}
{{- end -}}
{{- $seen := list -}}
{{- range include "parley.organizations" . | fromJsonArray -}}
{{- if has .name $seen -}}
{{- $problems = append $problems (printf "organizations names %s twice: leave one of them out" .name) -}}
{{- end -}}
{{- $seen = append $seen .name -}}
{{- if and .createNamespace (eq .name (include "parley.namespace" $)) -}}
{{- $problems = append $problems (printf "organizations names %s, which is the namespace of the release: it would have to make what it is in. Install Parley in a namespace of its own, or keep to this one with namespaced=true and without organizations" .name) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]" (include "parley.fullname" .)) -}}
{{- $problems = append $problems (printf "Services can't have names that begin as %s does: they begin with a letter. Give another name to the release, or set fullnameOverride" (include "parley.fullname" .)) -}}
{{- end -}}
{{- if and (ge (int (include "parley.valuesOf" (dict "root" . "role" "operator") | fromJson).replicas) 2) (eq (include "parley.setting" (dict "root" . "role" "operator" "name" "PARLEY_LEADER_ELECTION")) "false") -}}
{{- $problems = append $problems "operator.replicas is above 1 and config.PARLEY_LEADER_ELECTION is false: two operators would both write. Leave it out, or set operator.replicas=1" -}}
{{- end -}}
{{- if and .Values.voice.enabled (eq .Values.voice.autoscaling.mode "keda") (not .Values.voice.autoscaling.prometheusAddress) -}}
{{- $problems = append $problems "voice.autoscaling.mode is keda: it asks Prometheus. Set voice.autoscaling.prometheusAddress=http://<host>:9090" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- $problems = append $problems "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true: every metric would be there twice. Switch one off" -}}
{{- end -}}
{{- range $role := include "parley.roles" . | fromJsonArray -}}
{{- $own := include "parley.valuesOf" (dict "root" $ "role" $role) | fromJson -}}
{{- $disk := index (($own.resources | default dict).limits | default dict) "ephemeral-storage" -}}
{{- if and $own.enabled $disk -}}
{{- $needed := 0 -}}
{{- range $volume := list $own.temporaryVolume ($own.spool | default (dict "sizeLimit" "0" "medium" "")) -}}
{{- if not $volume.medium -}}{{- $needed = add $needed (int64 (include "parley.mebibytes" (dict "quantity" $volume.sizeLimit))) -}}{{- end -}}
{{- end -}}
{{- if gt $needed (int64 (include "parley.mebibytes" (dict "quantity" $disk))) -}}
{{- $problems = append $problems (printf "%s.resources.limits.ephemeral-storage is %s, and its volumes may hold %d MiB (defaults.temporaryVolume.sizeLimit, voice.spool.sizeLimit): its pods would be evicted before these are full. Raise it to at least %dMi" $role (toString $disk) $needed (add $needed 256)) -}}
{{- end -}}
{{- end -}}
{{- $scaling := $own.autoscaling -}}
{{- if and $own.enabled (include "parley.autoscaled" $own) (gt (int64 $scaling.minReplicas) (int64 $scaling.maxReplicas)) -}}
{{- $problems = append $problems (printf "%s.autoscaling.minReplicas is %d and %s.autoscaling.maxReplicas is %d: raise the one or lower the other" $role (int64 $scaling.minReplicas) $role (int64 $scaling.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- $calls := dict "root" . "role" "voice" "name" "PARLEY_VOICE_CALLS" -}}
{{- if and .Values.voice.enabled (include "parley.autoscaled" .Values.voice) (not (include "parley.elsewhere" $calls)) -}}
{{- if ge (int64 .Values.voice.autoscaling.targetCallsPerPod) (int64 (include "parley.setting" $calls)) -}}
{{- $problems = append $problems (printf "A voice pod takes %s calls (PARLEY_VOICE_CALLS), and with %d each there are enough pods: there would never be more. Set voice.autoscaling.targetCallsPerPod below %s" (include "parley.setting" $calls) (int64 .Values.voice.autoscaling.targetCallsPerPod) (include "parley.setting" $calls)) -}}
{{- end -}}
{{- end -}}
{{- /* Looked for where Helm speaks to the cluster, and at the first installation alone: an upgrade needs no permission to list bindings. */ -}}
{{- if and .Release.IsInstall .Values.rbac.create .Values.operator.enabled (not .Values.namespaced) -}}
{{- range (lookup "rbac.authorization.k8s.io/v1" "ClusterRoleBinding" "" "").items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- if and (eq (get $labels "app.kubernetes.io/part-of") "parley") (eq (get $labels "app.kubernetes.io/component") "operator") -}}
{{- /* Its label and its subject: other tools than Helm leave no annotations of Helm's. */ -}}
{{- $release := get $labels "app.kubernetes.io/instance" -}}
{{- $namespace := (first .subjects).namespace -}}
{{- if not (and (eq $release $.Release.Name) (eq $namespace (include "parley.namespace" $))) -}}
{{- $problems = append $problems (printf "This cluster has a Parley that serves all of it: release %s in namespace %s. Both would take every organisation for theirs, and undo what the other does. Upgrade that one, or keep this one to its namespace: --set namespaced=true" $release $namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThis installation can't work yet:\n\n  * %s\n" (join "\n\n  * " .)) -}}
{{- end -}}
{{- end -}}
