// Nodes and pods as the page knows them: JSON of web/model.js, for recorded runs and for live ones.
// Any thread, if the objects' symbols are held.
#pragma once

#include <string>

#include "berth/node.h"
#include "berth/pod.h"
#include "page/node_devices.h"

namespace berth::page {

// The members of a `NodeState`, without the braces. Devices are a resource, "devices DRIVER", of which
// those that are allocated are taken; null: there are none.
std::string node_members(const Node& node, const DevicesByDriver* devices);

// A `TemplateData`: what the page knows of a pod and of others like it.
std::string template_json(const Pod& pod);

}  // namespace berth::page
