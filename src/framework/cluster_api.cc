#include "berth/cluster_api.h"

namespace berth {
namespace {

std::unexpected<Error> no_such_resource() {
  return fail(ErrorKind::kNotFound, "the server could not find the requested resource");
}

}  // namespace

Task<Result<bool>> ClusterApi::is_bound(Ref<const Pod>, std::string, bool) { co_return false; }
Task<Result<AnyObject>> ClusterApi::update_status(AnyObject) { co_return no_such_resource(); }
Task<Result<AnyObject>> ClusterApi::create(AnyObject) { co_return no_such_resource(); }
Task<Result<void>> ClusterApi::remove(AnyObject) { co_return no_such_resource(); }
Task<Result<AnyObject>> ClusterApi::get(ObjectKind, std::string, std::string) {
  co_return no_such_resource();
}
Task<Result<void>> ClusterApi::unreserve_claim(Ref<const Object>, std::string) {
  co_return no_such_resource();
}

}  // namespace berth
