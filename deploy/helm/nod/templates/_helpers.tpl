{{- define "nod.fullname" -}}
{{ .Values.fullnameOverride | default .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "nod.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "nod.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "nod.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nod.fullLabels" -}}
{{ include "nod.labels" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "nod.hosts" -}}
{{- $service := include "nod.fullname" . -}}
{{- $name := printf "%s.%s" $service .Release.Namespace -}}
{{- $names := list $service $name (printf "%s.svc" $name) (printf "%s.svc.cluster.local" $name) -}}
{{- if .Values.ingress.enabled -}}
{{- $names = append $names .Values.ingress.host -}}
{{- end -}}
{{- join "," (concat $names .Values.hosts) -}}
{{- end }}

{{- /* The version of the Secret, which Helm reads from the cluster. It is empty
where Helm has no cluster, as with helm template. */ -}}
{{- define "nod.secretVersion" -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace .Values.existingSecret -}}
{{- dig "metadata" "resourceVersion" "" $secret -}}
{{- end }}

{{- /* The variables that the pods need, with the keys of the Secret. */ -}}
{{- define "nod.required" -}}
{{- $names := list "NOD_TOKEN_KEY" "NOD_RECEIPTS_KEY" "NOD_REDIS_PASSWORD" -}}
{{- if .Values.metrics.token -}}
{{- $names = append $names "NOD_METRICS_TOKEN" -}}
{{- end -}}
{{- join "," $names -}}
{{- end }}
