// What an API server does to an object before it is stored: defaults of its kind, and the admission
// that scheduling leans on (priority, tolerations, the taint of new nodes, merged label keys, the
// condition of gated pods). On trees, so that fields we do not know stay.
#pragma once

#include "berth/loop.h"
#include "memapi/api_error.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Each can be switched off, as on a real server.
struct AdmissionPlugins {
  bool priority = true;
  bool default_toleration_seconds = true;
  bool taint_nodes_by_condition = true;
  bool namespace_lifecycle = true;
  bool runtime_class = true;
  bool limit_ranger = true;
  bool resource_quota = true;
};

// Defaults of the kind, of new objects and of changed ones, and the canonical form.
void apply_defaults(const Resource& resource, JsonValue& object, WallTime now);

// The status with which new objects begin, whatever they come with; before the defaults.
void begin_status(const Resource& resource, JsonValue& object, WallTime now);

// Of new objects only, after the defaults: what the server sets by itself, then the plugins.
Answer<void> admit_new(const Resource& resource, JsonValue& object, const Store& store,
                       const AdmissionPlugins& plugins, WallTime now);

// The annotation of a DaemonSet that counts its templates; `old` is null for a new one.
void count_templates(JsonValue& daemon_set, const JsonValue* old);
// Sets the condition of that type; its transition time changes only with its status.
void set_condition(JsonValue& status, std::string_view type, std::string_view value,
                   std::string_view reason, std::string_view message, WallTime now);

}  // namespace berth::memapi
