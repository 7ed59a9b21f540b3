// Interner: makes equal things one thing. Strings become symbols, equal pod specs and metas become
// one shared object. One per engine; decoders on any thread use it.
//
// What nobody refers to any more is dropped after twice as many calls as there were objects, so
// that memory follows what the cluster has, not what it once had.
#pragma once

#include <cstddef>
#include <memory>

#include "berth/pod.h"
#include "berth/ref.h"
#include "berth/symbols.h"

namespace berth {

class Interner {
 public:
  Interner();
  ~Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  const std::shared_ptr<Symbols>& symbols() const { return symbols_; }
  SymbolHold hold() const { return SymbolHold(symbols_); }

  // The one object that equals `spec`; fills in what is derived if it is new.
  Ref<const PodSpec> share(PodSpec spec);
  Ref<const PodMeta> share(PodMeta meta);

  // How many distinct ones are kept, used or not yet dropped.
  std::size_t spec_count() const;
  std::size_t meta_count() const;

 private:
  struct Tables;
  std::shared_ptr<Symbols> symbols_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace berth
