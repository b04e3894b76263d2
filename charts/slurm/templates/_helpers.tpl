{{- define "slurm.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "slurm.namespace" -}}
{{ default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "slurm.meta" -}}
namespace: {{ include "slurm.namespace" . }}
labels:
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
  app.kubernetes.io/part-of: slurm
  app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* An image as text, or as repository, tag and digest. */ -}}
{{- define "slurm.image" -}}
{{- if kindIs "string" . }}{{ . }}
{{- else if .digest }}{{ required "image.repository is missing" .repository }}@{{ .digest }}
{{- else }}{{ required "image.repository is missing" .repository }}{{ with .tag }}:{{ . }}{{ end }}
{{- end }}
{{- end }}

{{- /* A container's settings as the kinds take them; JSON, {} for none.  (dict "root" $ "of" settings) */ -}}
{{- define "slurm.container" -}}
{{- $c := deepCopy (default dict .of) }}
{{- with $c.image }}
{{- $_ := set $c "image" (include "slurm.image" .) }}
{{- if not $c.imagePullPolicy }}{{- $_ := set $c "imagePullPolicy" $.root.Values.imagePullPolicy }}{{- end }}
{{- end }}
{{- $c | toJson }}
{{- end }}

{{- /* metadata and podSpec as a pod template; JSON. */ -}}
{{- define "slurm.template" -}}
{{- $spec := deepCopy (default dict .of.podSpec) }}
{{- if and .root.Values.imagePullSecrets (not $spec.imagePullSecrets) }}{{- $_ := set $spec "imagePullSecrets" .root.Values.imagePullSecrets }}{{- end }}
{{- if and .root.Values.priorityClass.enabled (not $spec.priorityClassName) }}{{- $_ := set $spec "priorityClassName" .root.Values.priorityClass.name }}{{- end }}
{{- $t := dict }}
{{- with .of.metadata }}{{- $_ := set $t "metadata" . }}{{- end }}
{{- if $spec }}{{- $_ := set $t "spec" $spec }}{{- end }}
{{- $t | toJson }}
{{- end }}

{{- /* Key=Value lines of a map; a list becomes a list with commas. */ -}}
{{- define "slurm.lines" -}}
{{- range $k, $v := . }}{{ $k }}={{ if kindIs "slice" $v }}{{ join "," $v }}{{ else }}{{ $v }}{{ end }}
{{ end }}
{{- end }}

{{- /* The same on one line. */ -}}
{{- define "slurm.words" -}}
{{- $words := list }}
{{- range $k, $v := . }}{{- $words = append $words (printf "%s=%s" $k (ternary (join "," $v) (toString $v) (kindIs "slice" $v))) }}{{- end }}
{{- join " " $words }}
{{- end }}

{{- /* All of a kind by name, as JSON: a map, or a list with names, under either spelling.  (dict "of" (list a b) "what" "nodesets") */ -}}
{{- define "slurm.byName" -}}
{{- $all := dict }}
{{- range $set := .of }}
{{- if kindIs "slice" $set }}
{{- range $set }}
{{- $name := required (printf "%s: an item of the list has no name" $.what) .name }}
{{- if hasKey $all $name }}{{ fail (printf "%s: '%s' is there twice" $.what $name) }}{{ end }}
{{- $_ := set $all $name (omit . "name") }}
{{- end }}
{{- else }}
{{- range $name, $item := $set }}
{{- if hasKey $all $name }}{{ fail (printf "%s: '%s' is there twice" $.what $name) }}{{ end }}
{{- $_ := set $all $name (default dict $item) }}
{{- end }}
{{- end }}
{{- end }}
{{- $all | toJson }}
{{- end }}

{{- define "slurm.nodesets" -}}
{{- $all := include "slurm.byName" (dict "what" "nodesets" "of" (list (default dict .Values.nodesets) (default dict .Values.nodeSets))) | fromJson }}
{{- $on := dict }}
{{- range $name, $item := $all }}
{{- $merged := mustMergeOverwrite (deepCopy (default dict $.Values.nodesetDefaults)) $item }}
{{- if ne (toString $merged.enabled) "false" }}{{- $_ := set $on $name (omit $merged "enabled") }}{{- end }}
{{- end }}
{{- $on | toJson }}
{{- end }}

{{- define "slurm.loginsets" -}}
{{- $all := include "slurm.byName" (dict "what" "loginsets" "of" (list (default dict .Values.loginsets) (default dict .Values.loginSets))) | fromJson }}
{{- $on := dict }}
{{- range $name, $item := $all }}
{{- $merged := mustMergeOverwrite (deepCopy (default dict $.Values.loginsetDefaults)) $item }}
{{- if ne (toString $merged.enabled) "false" }}{{- $_ := set $on $name (omit $merged "enabled") }}{{- end }}
{{- end }}
{{- $on | toJson }}
{{- end }}

{{- /* PartitionName lines of .Values.partitions. */ -}}
{{- define "slurm.partitions" -}}
{{- $known := keys (include "slurm.nodesets" . | fromJson) }}
{{- range $name, $p := .Values.partitions }}
{{- if ne (toString $p.enabled) "false" }}
{{- if not $p.nodesets }}{{ fail (printf "partitions.%s: nodesets is empty; name node sets, or ALL" $name) }}{{ end }}
{{- range $p.nodesets }}{{- if not (or (eq . "ALL") (has . $known)) }}{{ fail (printf "partitions.%s: there is no node set '%s'" $name .) }}{{ end }}{{- end }}
{{- $config := list }}
{{- with $p.config }}{{- $config = append $config . }}{{- end }}
{{- with $p.configMap }}{{- $config = append $config (include "slurm.words" .) }}{{- end }}
PartitionName={{ $name }} Nodes={{ join "," $p.nodesets }}{{ range $config }} {{ . }}{{ end }}
{{ end }}
{{- end }}
{{- end }}

{{- /* A script's map: values, name of the ConfigMap, prefix of its keys. */ -}}
{{- define "slurm.scripts" -}}
{{- $maps := dict }}
{{- range $k := list "prologScripts" "epilogScripts" "prologSlurmctldScripts" "epilogSlurmctldScripts" }}
{{- with index $.Values $k }}{{- $_ := set $maps $k . }}{{- end }}
{{- end }}
{{- $maps | toJson }}
{{- end }}
