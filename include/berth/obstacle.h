// Obstacle: one of the things that keep a pod off a node, in more detail than the sentence in an
// event: which resource and how much of it is missing, which taint, which term of an affinity.
//
// Filter plugins name their obstacles on request (ObstaclePlugin in plugin.h); `berth explain`
// shows them. docs/explain-codes.md lists all codes.
#pragma once

#include <map>
#include <string>

namespace berth {

struct Obstacle {
  std::string code;    // stable, for programs: "InsufficientResource"
  std::string reason;  // the sentence of the verdict that this is about: "Insufficient cpu"
  // What it is about, if a reason can be about several things: "cpu", "team=red:NoSchedule". Nodes
  // with equal plugins, codes and subjects are shown as one group, whatever their numbers are.
  std::string subject;
  std::string text;  // for people: "needs 3 cpu, 1250m free of 8"
  // The same for programs: {"requested": "3", "free": "1250m", "allocatable": "8"}.
  std::map<std::string, std::string> facts;
  // How far the node is from having the pod, to order nodes: the part of what is asked for that is
  // missing (1750m of 3 cpu: 0.58), or 1 where there is no more or less.
  double distance = 1;
};

}  // namespace berth
