{{/* The name of all objects: berth-scheduler for a release called berth. */}}
{{- define "berth.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if hasSuffix "scheduler" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-scheduler" (.Release.Name | trunc 53 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "berth.selectorLabels" -}}
app.kubernetes.io/name: berth-scheduler
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "berth.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "berth.fullname" .) -}}
{{- else -}}
{{- required "serviceAccount.name is needed when the chart does not create one" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "berth.schedulerName" -}}
{{- .Values.schedulerName | default (ternary "default-scheduler" "berth" .Values.replace) -}}
{{- end -}}

{{- define "berth.leaseName" -}}
{{- $own := include "berth.fullname" . -}}
{{- .Values.leaderElection.resourceName | default (ternary "kube-scheduler" $own .Values.replace) -}}
{{- end -}}

{{- define "berth.leaseNamespace" -}}
{{- .Values.leaderElection.resourceNamespace | default (ternary "kube-system" .Release.Namespace .Values.replace) -}}
{{- end -}}

{{/* The names of all profiles, as a JSON list. */}}
{{- define "berth.profileNames" -}}
{{- $names := list -}}
{{- range .Values.profiles -}}
{{- $names = append $names (.schedulerName | default "default-scheduler") -}}
{{- end -}}
{{- $names | default (list (include "berth.schedulerName" .)) | toJson -}}
{{- end -}}

{{/* What the scheduler is given with --config. */}}
{{- define "berth.configuration" -}}
{{- $election := dict "leaderElect" .Values.leaderElection.enabled -}}
{{- if .Values.leaderElection.enabled -}}
{{- $_ := set $election "resourceName" (include "berth.leaseName" .) -}}
{{- $_ := set $election "resourceNamespace" (include "berth.leaseNamespace" .) -}}
{{- range list "leaseDuration" "renewDeadline" "retryPeriod" -}}
{{- $_ := set $election . (get $.Values.leaderElection .) -}}
{{- end -}}
{{- end -}}
{{- $profiles := .Values.profiles | default (list (dict "schedulerName" (include "berth.schedulerName" .))) -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
{{ toYaml (merge (dict "leaderElection" $election "profiles" $profiles) .Values.config) }}
{{- end -}}

{{/* Refuses what would leave pods to two schedulers, or to none. */}}
{{- define "berth.check" -}}
{{- $names := include "berth.profileNames" . | fromJsonArray -}}
{{- $first := has "default-scheduler" $names -}}
{{- $election := .Values.leaderElection -}}
{{- $lease := printf "%s/%s" (include "berth.leaseNamespace" .) (include "berth.leaseName" .) -}}
{{- if and .Values.replace (not $first) -}}
{{- fail "replace needs a profile named default-scheduler: pods that name no scheduler would stay pending" -}}
{{- end -}}
{{- if and $first (not .Values.replace) -}}
{{- fail "a profile named default-scheduler needs replace: true, or two schedulers take the same pods" -}}
{{- end -}}
{{- if and $election.enabled (not .Values.replace) (eq $lease "kube-system/kube-scheduler") -}}
{{- fail "the lease kube-system/kube-scheduler needs replace: true, or one of the two schedulers waits for ever" -}}
{{- end -}}
{{- if and .Values.replace (not $election.enabled) -}}
{{- fail "replace needs leader election, or kube-scheduler and berth work at the same time" -}}
{{- end -}}
{{- if and .Values.replace (ne $lease "kube-system/kube-scheduler") -}}
{{- fail "replace needs the lease kube-system/kube-scheduler, or kube-scheduler and berth work at the same time" -}}
{{- end -}}
{{- if and (not $election.enabled) (gt (int .Values.replicas) 1) -}}
{{- fail "several replicas need leader election: all of them would schedule the same pods" -}}
{{- end -}}
{{- end -}}
