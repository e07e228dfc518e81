{{- define "nod.labels" -}}
app.kubernetes.io/name: nod
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nod.fullLabels" -}}
{{ include "nod.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
