// Waiting pods over HTTP: lists the pods that wait between scheduling and binding with the plugins
// that hold them, and lets an operator allow or reject a pod. `berth permit` uses it.
//
//   GET  /debug/waiting-pods
//     {"items":[{"namespace":"default","name":"a","uid":"…","node":"n1","plugins":["Gate"]}]}
//   POST /debug/waiting-pods/NAMESPACE/NAME/allow?plugin=Gate
//   POST /debug/waiting-pods/NAMESPACE/NAME/reject?plugin=Gate&message=because
//     {"namespace":"default","name":"a","uid":"…","node":"n1","plugins":["Gate"],"result":"allowed"}
//
// Without a plugin: all that hold the pod allow it, or the first of them rejects it. Any thread.
#pragma once

#include <string_view>

#include "berth/waiting_pods.h"
#include "net/http_message.h"
#include "serve/user.h"

namespace berth::serve {

inline constexpr std::string_view kWaitingPodsPath = "/debug/waiting-pods";

// `path` is unescaped and begins with kWaitingPodsPath.
net::HttpResponse answer_waiting_pods(const net::HttpRequest& request, std::string_view path,
                                      const UserInfo& user, WaitingPods& pods);

}  // namespace berth::serve
