// FrozenCluster: what an Evaluator knows before it is asked: the objects of a cluster that stands
// still, and with which plugins and settings pods are judged. A copy is another cluster, to be
// changed by itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "berth/evaluate.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/plugin_table.h"
#include "berth/pod.h"
#include "embed/settings.h"
#include "explain/evaluator.h"

namespace berth {

struct FrozenCluster {
  using Key = std::tuple<ObjectKind, std::string, std::string>;  // kind, namespace, name

  std::shared_ptr<Interner> interner;
  PluginTable plugins;
  Settings settings;
  Evaluator::Question question;
  std::map<Key, AnyObject> objects = {};

  // Added, or in the place of the one with the same key. An empty object is nothing.
  void put(AnyObject object);
};

struct Evaluator::Parts {
  // Fails if the profile cannot be made, or the objects contradict one another.
  static Result<Evaluator> make_evaluator(FrozenCluster frozen);

  Result<Verdict> judge(Ref<const Pod> pod, bool stays);
  Result<std::vector<Verdict>> judge(std::string_view pods, bool stays);

  FrozenCluster cluster;
  std::unique_ptr<explain::Evaluator> search;
};

}  // namespace berth
