// Waiting pods over HTTP: who is held between scheduling and binding, and by whom; and for an
// operator to let a pod go or turn it away. `berth permit` asks these.
//
//   GET  /debug/waiting-pods
//     {"items":[{"namespace":"default","name":"a","uid":"…","node":"n1","plugins":["Gate"]}]}
//   POST /debug/waiting-pods/NAMESPACE/NAME/allow?plugin=Gate
//   POST /debug/waiting-pods/NAMESPACE/NAME/reject?plugin=Gate&message=because
//     {"namespace":"default","name":"a","uid":"…","node":"n1","plugins":["Gate"],"result":"allowed"}
//
// Without a plugin: all that hold the pod allow it, or the first of them rejects it. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "framework/waiting_pods.h"
#include "net/http_message.h"
#include "serve/user.h"

namespace berth::serve {

inline constexpr std::string_view kWaitingPodsPath = "/debug/waiting-pods";

// `path` is unescaped and begins with kWaitingPodsPath.
net::HttpResponse answer_waiting_pods(const net::HttpRequest& request, std::string_view path,
                                      const UserInfo& user, WaitingPods& pods);

}  // namespace berth::serve
