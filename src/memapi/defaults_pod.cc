// Defaults of pods and of the pods in templates.

#include "memapi/defaults.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

bool pulls_always(std::string_view image) {
  if (image.contains('@')) return false;
  const std::size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const std::size_t colon = last.rfind(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest";
}

std::string_view pull_policy(std::string_view image) {
  return pulls_always(image) ? "Always" : "IfNotPresent";
}

void default_http_get(JsonValue& handler) {
  JsonValue* get = at(handler, "httpGet");
  if (!is_object(get)) return;
  default_text(*get, "path", "/");
  default_text(*get, "scheme", "HTTP");
}

void default_probes(JsonValue& container) {
  for (const std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    JsonValue* probe = at(container, name);
    if (!is_object(probe)) continue;
    default_number(*probe, "timeoutSeconds", 1);
    default_number(*probe, "periodSeconds", 10);
    default_number(*probe, "successThreshold", 1);
    default_number(*probe, "failureThreshold", 3);
    default_http_get(*probe);
  }
  for (const std::string_view name : {"lifecycle.postStart", "lifecycle.preStop"})
    if (JsonValue* handler = at(container, name); is_object(handler)) default_http_get(*handler);
}

void default_field_reference(JsonValue& item, std::string_view path) {
  if (JsonValue* reference = at(item, path); is_object(reference))
    default_text(*reference, "apiVersion", "v1");
}

void default_container(JsonValue& container) {
  if (container.kind != JsonValue::Kind::kObject) return;
  default_text(container, "terminationMessagePath", "/dev/termination-log");
  default_text(container, "terminationMessagePolicy", "File");
  default_text(container, "imagePullPolicy", pull_policy(text_at(container, "image")));
  each_item(container, "ports", [](JsonValue& port) { default_text(port, "protocol", "TCP"); });
  each_item(container, "env",
            [](JsonValue& one) { default_field_reference(one, "valueFrom.fieldRef"); });
  default_probes(container);
}

void default_downward_items(JsonValue& source) {
  each_item(source, "items", [](JsonValue& item) { default_field_reference(item, "fieldRef"); });
}

void default_volume(JsonValue& volume) {
  constexpr std::int64_t kReadableByOthers = 0644;
  if (volume.members.size() == (volume.find("name") != nullptr ? 1U : 0U))
    set(volume, "emptyDir", JsonValue::object());
  for (const std::string_view name : {"secret", "configMap", "downwardAPI", "projected"})
    if (JsonValue* source = at(volume, name); is_object(source))
      set_default(*source, "defaultMode", JsonValue::of_int(kReadableByOthers));
  if (JsonValue* source = at(volume, "downwardAPI")) default_downward_items(*source);
  each_item(volume, "projected.sources", [](JsonValue& source) {
    if (JsonValue* inner = at(source, "downwardAPI")) default_downward_items(*inner);
    if (JsonValue* token = at(source, "serviceAccountToken"); is_object(token))
      set_default(*token, "expirationSeconds", JsonValue::of_int(3600));
  });
  if (JsonValue* source = at(volume, "hostPath"); is_object(source))
    set_default(*source, "type", JsonValue::of_text(""));
  if (JsonValue* source = at(volume, "azureDisk"); is_object(source)) {
    set_default(*source, "cachingMode", JsonValue::of_text("ReadWrite"));
    set_default(*source, "kind", JsonValue::of_text("Shared"));
  }
  if (JsonValue* source = at(volume, "image"); is_object(source))
    default_text(*source, "pullPolicy", pull_policy(text_at(*source, "reference")));
  if (JsonValue* spec = at(volume, "ephemeral.volumeClaimTemplate.spec"); is_object(spec))
    set_default(*spec, "volumeMode", JsonValue::of_text("Filesystem"));
}

constexpr std::string_view kContainerLists[] = {"containers", "initContainers"};

}  // namespace

void default_pod_spec(JsonValue& spec) {
  if (const std::string account(text_at(spec, "serviceAccount")); !account.empty())
    default_text(spec, "serviceAccountName", account);
  if (const std::string account(text_at(spec, "serviceAccountName")); !account.empty())
    set_text(spec, "serviceAccount", account);
  default_text(spec, "restartPolicy", "Always");
  default_text(spec, "dnsPolicy", "ClusterFirst");
  default_text(spec, "schedulerName", "default-scheduler");
  set_default(spec, "terminationGracePeriodSeconds", JsonValue::of_int(30));
  set_default(spec, "securityContext", JsonValue::object());
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
    each_item(spec, list, default_container);
  each_item(spec, "volumes", default_volume);
}

void default_pod(JsonValue& pod) {
  JsonValue& spec = object_at(pod, "spec");
  default_pod_spec(spec);
  set_default(spec, "enableServiceLinks", JsonValue::of_bool(true));
  if (int_at(spec, "terminationGracePeriodSeconds").value_or(0) < 0)
    set(spec, "terminationGracePeriodSeconds", JsonValue::of_int(1));
  const bool host_network = true_at(spec, "hostNetwork");
  for (const std::string_view list : kContainerLists) {
    each_item(spec, list, [&](JsonValue& container) {
      if (host_network) {
        each_item(container, "ports", [](JsonValue& port) {
          const std::int64_t number = int_at(port, "containerPort").value_or(0);
          if (number != 0) default_number(port, "hostPort", number);
        });
      }
      const JsonValue* limits = at(container, "resources.limits");
      if (!is_object(limits) || limits->members.empty()) return;
      const JsonValue copy = *limits;  // what follows may move it
      JsonValue& requests = object_at(container, "resources.requests");
      for (const JsonMember& limit : copy.members) set_default(requests, limit.name, limit.value);
    });
  }
  // The two ways to tell a pod's address; the older one counts.
  JsonValue* status = at(pod, "status");
  if (!is_object(status)) return;
  const auto& addresses = items_at(*status, "podIPs");
  const std::string address(text_at(*status, "podIP"));
  const std::string first(addresses.empty() ? "" : text_at(addresses.front(), "ip"));
  if (address.empty()) {
    if (!first.empty()) set_text(*status, "podIP", first);
  } else if (first != address) {
    JsonValue only = JsonValue::array();
    only.items.push_back(JsonValue::object());
    set_text(only.items.front(), "ip", address);
    set(*status, "podIPs", std::move(only));
  }
}

}  // namespace berth::memapi
