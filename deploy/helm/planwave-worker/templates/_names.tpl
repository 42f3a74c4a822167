{{- define "planwave.labels" -}}
app.kubernetes.io/name: planwave-worker
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "planwave.name" -}}
{{ printf "%s-planwave" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
