#include "api/claim_template.h"

#include <fmt/format.h>

namespace berth {

Ref<ResourceClaim> claim_from_template(const Pod& pod, const PodResourceClaim& entry,
                                       const ResourceClaimTemplate& made_from, Interner& interner,
                                       WallTime now) {
  auto claim = make_ref<ResourceClaim>(interner.hold());
  SymbolHold& symbols = claim->symbols;
  claim->namespace_name = symbols.intern(pod.namespace_name());
  // The UID tells claims of pods apart that have one name after the other.
  claim->name = fmt::format("{}-{}-{:.5}", pod.name(), pod.text(entry.name), pod.uid_text());
  claim->annotations = made_from.annotations;
  claim->controller = {symbols.intern("v1"), symbols.intern("Pod"), symbols.intern(pod.name())};
  claim->controller_uid = pod.uid_text();
  claim->creation_time = now;
  claim->spec = made_from.spec;
  // The template's symbols, for as long as the claim lives.
  claim->symbols = [&] {
    SymbolHold hold = made_from.symbols;
    for (const Symbol symbol : {claim->namespace_name, claim->controller.api_version,
                                claim->controller.kind, claim->controller.name})
      hold.retain(symbol);
    return hold;
  }();
  return claim;
}

}  // namespace berth
