{{- define "nod.labels" -}}
app.kubernetes.io/name: nod
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nod.fullLabels" -}}
{{ include "nod.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "nod.hosts" -}}
{{- $name := printf "%s.%s" .Release.Name .Release.Namespace -}}
{{- $names := list .Release.Name $name (printf "%s.svc" $name) (printf "%s.svc.cluster.local" $name) -}}
{{- if .Values.ingress.enabled -}}
{{- $names = append $names .Values.ingress.host -}}
{{- end -}}
{{- join "," (concat $names .Values.hosts) -}}
{{- end }}
