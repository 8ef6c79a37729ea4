{{- define "lote.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "lote.labels" -}}
app.kubernetes.io/name: lote
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "lote.allLabels" -}}
{{ include "lote.labels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "lote.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "lote.claim" -}}
{{- .Values.storage.existingClaim | default (include "lote.name" .) -}}
{{- end -}}

{{/* What each process of Lote needs. */}}
{{- define "lote.sharedEnv" -}}
- name: DATABASE_URL
  value: {{ printf "postgresql://%s:%v/%s" .Values.database.host .Values.database.port .Values.database.name | quote }}
- name: PGUSER
  value: {{ .Values.database.user | quote }}
- name: PGPASSWORD_FILE
  value: /run/secrets/lote/database-password
- name: TEMPORAL_ADDRESS
  value: {{ .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
- name: LOTE_TASK_QUEUE
  value: {{ .Values.temporal.taskQueue | quote }}
{{- if .Values.temporal.tls }}
- name: TEMPORAL_TLS
  value: 'true'
{{- end }}
{{- if .Values.temporal.apiKey.secret }}
- name: TEMPORAL_API_KEY_FILE
  value: /run/secrets/lote/temporal-api-key
{{- end }}
{{- if .Values.temporal.clientCertificate.secret }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /run/secrets/lote/temporal-client.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /run/secrets/lote/temporal-client.key
{{- end }}
- name: INVOICING_BASE_URL
  value: {{ .Values.service.baseUrl | quote }}
- name: WEBHOOK_URL
  value: {{ .Values.service.webhookUrl | quote }}
{{- if .Values.service.profile }}
- name: SERVICE_PROFILE
  value: /etc/lote/service-profile.json
{{- end }}
- name: CONSOLE_URL
  value: {{ .Values.console.url | quote }}
- name: LOTE_APPLICATION
  value: {{ .Values.application | quote }}
- name: LOTE_LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
- name: TZ
  value: {{ .Values.timezone | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* What a process needs besides that speaks to the service. */}}
{{- define "lote.serviceEnv" -}}
- name: INVOICING_API_KEY_FILE
  value: /run/secrets/lote/invoicing-api-key
{{- if .Values.service.webhookSecret.secret }}
- name: WEBHOOK_SECRET_FILE
  value: /run/secrets/lote/webhook-secret
{{- end }}
{{- end -}}

{{- define "lote.metricsEnv" -}}
{{- if .Values.metrics.enabled }}
- name: METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- end }}
{{- end -}}

{{/* The secrets of a component, as files of one folder. `service`: it speaks to the service; `console`: it is the console. */}}
{{- define "lote.secrets" -}}
{{- $values := .root.Values -}}
- secret:
    name: {{ $values.database.password.secret }}
    items: [{ key: {{ $values.database.password.key }}, path: database-password }]
{{- with $values.temporal.apiKey }}
{{- if .secret }}
- secret:
    name: {{ .secret }}
    items: [{ key: {{ .key }}, path: temporal-api-key }]
{{- end }}
{{- end }}
{{- with $values.temporal.clientCertificate.secret }}
- secret:
    name: {{ . }}
    items:
      - { key: tls.crt, path: temporal-client.crt }
      - { key: tls.key, path: temporal-client.key }
{{- end }}
{{- if .service }}
- secret:
    name: {{ $values.service.apiKey.secret }}
    items: [{ key: {{ $values.service.apiKey.key }}, path: invoicing-api-key }]
{{- with $values.service.webhookSecret }}
{{- if .secret }}
- secret:
    name: {{ .secret }}
    items: [{ key: {{ .key }}, path: webhook-secret }]
{{- end }}
{{- end }}
{{- end }}
{{- if eq .component "worker" }}
{{- with $values.message.smtpPassword }}
{{- if .secret }}
- secret:
    name: {{ .secret }}
    items: [{ key: {{ .key }}, path: smtp-password }]
{{- end }}
{{- end }}
{{- end }}
{{- if .console }}
{{- with $values.console.token }}
{{- if .secret }}
- secret:
    name: {{ .secret }}
    items: [{ key: {{ .key }}, path: console-token }]
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "lote.volumes" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- include "lote.secrets" . | nindent 6 }}
- name: temporary
  emptyDir: {}
- name: folders
  persistentVolumeClaim:
    claimName: {{ include "lote.claim" .root }}
{{- if .root.Values.service.profile }}
- name: profile
  configMap:
    name: {{ include "lote.name" .root }}-profile
{{- end }}
{{- end -}}

{{- define "lote.mounts" -}}
- { name: secrets, mountPath: /run/secrets/lote, readOnly: true }
- { name: temporary, mountPath: /tmp }
- { name: folders, mountPath: /data/input, subPath: input }
- { name: folders, mountPath: /data/reports, subPath: reports }
- { name: folders, mountPath: /data/lote, subPath: lote }
{{- if .Values.service.profile }}
- { name: profile, mountPath: /etc/lote, readOnly: true }
{{- end }}
{{- end -}}

{{- define "lote.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "lote.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Probes of a process that answers on the port `health`. A start may migrate the ledger. */}}
{{- define "lote.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: health }
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health/live, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health/ready, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
{{- end -}}

{{/* A deployment: root, component, values (of the component), replicas, env, port (of its health), and which secrets it needs. */}}
{{- define "lote.deployment" -}}
{{- $values := .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "lote.name" .root }}-{{ .component }}
  labels:
    {{- include "lote.allLabels" . | nindent 4 }}
spec:
  {{- if .replicas }}
  replicas: {{ .replicas }}
  {{- end }}
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "lote.labels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "lote.allLabels" . | nindent 8 }}
      annotations:
        {{- if $values.metrics.enabled }}
        prometheus.io/scrape: 'true'
        prometheus.io/port: {{ $values.metrics.port | quote }}
        {{- end }}
        checksum/profile: {{ $values.service.profile | sha256sum }}
    spec:
      serviceAccountName: {{ include "lote.name" .root }}
      automountServiceAccountToken: false
      # A Service called lote-receiver would set LOTE_RECEIVER_PORT and the like.
      enableServiceLinks: false
      {{- with $values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        {{- include "lote.podSecurity" . | nindent 8 }}
      # Slices in flight end first (45 s).
      terminationGracePeriodSeconds: 75
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "lote.labels" . | nindent 14 }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "lote.image" .root | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: [{{ .component }}]
          env:
            {{- include "lote.sharedEnv" .root | nindent 12 }}
            {{- .env | nindent 12 }}
            {{- include "lote.metricsEnv" .root | nindent 12 }}
          ports:
            - { name: health, containerPort: {{ .port }} }
            {{- if $values.metrics.enabled }}
            - { name: metrics, containerPort: {{ $values.metrics.port }} }
            {{- end }}
          {{- include "lote.probes" . | nindent 10 }}
          {{- if not (eq .component "worker") }}
          # Until every balancer knows that this pod leaves.
          lifecycle: { preStop: { sleep: { seconds: 5 } } }
          {{- end }}
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- include "lote.containerSecurity" . | nindent 12 }}
          volumeMounts:
            {{- include "lote.mounts" .root | nindent 12 }}
      volumes:
        {{- include "lote.volumes" . | nindent 8 }}
{{- end -}}
