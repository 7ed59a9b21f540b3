#include "plugins/dynamic_resources/testing/claim_server.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::testing {
namespace {

const ResourceClaim& claim_in(const AnyObject& object) {
  return static_cast<const ResourceClaim&>(*std::get<Ref<const Object>>(object));
}

}  // namespace

void ClaimServer::put(Ref<const ResourceClaim> claim) {
  Ref<ResourceClaim> stored = make_ref<ResourceClaim>(*claim);
  [[maybe_unused]] const Result<AnyObject> answer = store(std::move(stored));
}

void ClaimServer::drop(std::string_view name) {
  const Ref<const ResourceClaim> claim = claims_.at(std::string(name));
  claims_.erase(std::string(name));
  if (!kept_back_)
    cluster_.remove(ObjectKind::kResourceClaim, claim->symbols.text(claim->namespace_name), name);
}

void ClaimServer::fails(std::string verb, Error error, bool applied) {
  scripts_[std::move(verb)].push_back({{}, std::move(error), applied});
}

void ClaimServer::before(std::string verb, std::move_only_function<void()> work) {
  scripts_[std::move(verb)].push_back({std::move(work), {}, true});
}

void ClaimServer::show() {
  kept_back_ = false;
  for (const auto& [name, claim] : claims_) cluster_.put(claim);
}

void ClaimServer::release(const std::string& verb) {
  const std::vector<Eventual<bool>*> waiting = std::move(held_.at(verb));
  held_.erase(verb);
  for (Eventual<bool>* one : waiting) one->set(true);
}

Task<ClaimServer::Script> ClaimServer::begin(std::string verb, std::string name) {
  writes_.push_back(verb + " " + name);
  if (const auto held = held_.find(verb); held != held_.end()) {
    Eventual<bool> released;
    held->second.push_back(&released);
    co_await released;
  }
  Script script{{}, {}, true};
  if (std::deque<Script>& scripted = scripts_[verb]; !scripted.empty()) {
    script = std::move(scripted.front());
    scripted.pop_front();
  }
  if (script.work) script.work();
  co_return script;
}

Result<AnyObject> ClaimServer::store(Ref<ResourceClaim> changed) {
  changed->resource_version = std::to_string(++version_);
  const Ref<const ResourceClaim> stored = std::move(changed);
  claims_.insert_or_assign(stored->name, stored);
  if (!kept_back_) cluster_.put(stored);
  return AnyObject(Ref<const Object>(stored));
}

// A copy of what is stored, if it is the version that the object is of.
Result<Ref<ResourceClaim>> ClaimServer::current(const AnyObject& object) const {
  const ResourceClaim& written = claim_in(object);
  const auto found = claims_.find(written.name);
  if (found == claims_.end())
    return fail(ErrorKind::kNotFound,
                fmt::format("resourceclaims.resource.k8s.io \"{}\" not found", written.name));
  if (found->second->resource_version != written.resource_version)
    return fail(ErrorKind::kConflict, "the object has been modified");
  return make_ref<ResourceClaim>(*found->second);
}

Task<Result<std::string>> ClaimServer::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  Task<Script> beginning = begin("patch", std::string(pod->name()));
  const Script script = co_await beginning;
  if (script.applied) patches.push_back(std::move(patch));
  if (script.error) co_return fail(*script.error);
  co_return std::string();
}

Task<Result<AnyObject>> ClaimServer::update(AnyObject object) {
  Task<Script> beginning = begin("update", claim_in(object).name);
  const Script script = co_await beginning;
  Result<Ref<ResourceClaim>> changed = current(object);
  if (!script.applied) co_return fail(*script.error);
  if (!changed) co_return fail(changed.error());
  (*changed)->finalizers = claim_in(object).finalizers;
  Result<AnyObject> answer = store(std::move(*changed));
  if (script.error) co_return fail(*script.error);
  co_return answer;
}

Task<Result<AnyObject>> ClaimServer::update_status(AnyObject object) {
  Task<Script> beginning = begin("status", claim_in(object).name);
  const Script script = co_await beginning;
  Result<Ref<ResourceClaim>> changed = current(object);
  if (!script.applied) co_return fail(*script.error);
  if (!changed) co_return fail(changed.error());
  (*changed)->status = claim_in(object).status;
  (*changed)->symbols = claim_in(object).symbols;
  Result<AnyObject> answer = store(std::move(*changed));
  if (script.error) co_return fail(*script.error);
  co_return answer;
}

Task<Result<AnyObject>> ClaimServer::create(AnyObject object) {
  Task<Script> beginning = begin("create", claim_in(object).generate_name);
  const Script script = co_await beginning;
  if (!script.applied) co_return fail(*script.error);
  Ref<ResourceClaim> made = make_ref<ResourceClaim>(claim_in(object));
  made->name = fmt::format("{}{}", made->generate_name, ++created_);
  made->uid = "uid-of-" + made->name;
  Result<AnyObject> answer = store(std::move(made));
  if (script.error) co_return fail(*script.error);
  co_return answer;
}

Task<Result<void>> ClaimServer::remove(AnyObject object) {
  const std::string name = claim_in(object).name;
  Task<Script> beginning = begin("delete", name);
  const Script script = co_await beginning;
  if (!script.applied) co_return fail(*script.error);
  if (claims_.contains(name)) drop(name);
  if (script.error) co_return fail(*script.error);
  co_return Result<void>();
}

Task<Result<AnyObject>> ClaimServer::get(ObjectKind, std::string, std::string name) {
  Task<Script> beginning = begin("get", name);
  const Script script = co_await beginning;
  if (script.error) co_return fail(*script.error);
  const auto found = claims_.find(name);
  if (found == claims_.end())
    co_return fail(ErrorKind::kNotFound,
                   fmt::format("resourceclaims.resource.k8s.io \"{}\" not found", name));
  co_return AnyObject(Ref<const Object>(found->second));
}

Task<Result<void>> ClaimServer::unreserve_claim(Ref<const Object> claim, std::string consumer_uid) {
  const std::string name = claim->name;
  Task<Script> beginning = begin("unreserve", name);
  const Script script = co_await beginning;
  if (!script.applied) co_return fail(*script.error);
  if (const auto found = claims_.find(name); found != claims_.end()) {
    Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*found->second);
    std::erase_if(changed->status.reserved_for,
                  [&](const auto& consumer) { return consumer.uid == consumer_uid; });
    [[maybe_unused]] const Result<AnyObject> answer = store(std::move(changed));
  }
  if (script.error) co_return fail(*script.error);
  co_return Result<void>();
}

}  // namespace berth::testing
