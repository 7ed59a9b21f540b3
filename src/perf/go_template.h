// GoTemplate: the part of Go's text/template that the templates of scheduler_perf use, with that
// suite's functions.
//
//   {{$devices := or .numDevices 10}}              a variable
//   {{range ($devices | Int)}}device-{{.}} {{end}}  0, 1, …; `range $i := …` names the number
//   {{if eq .class "x"}}…{{else}}…{{end}}
//   {{AddInt 8000 (Mod .Index 4)}}                  also SubtractInt, MultiplyInt, DivideInt, JSON
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "wire/json_tree.h"

namespace berth::perf {

class GoTemplate {
 public:
  // Errors of parse and execute quote the action: `"{{Mod .Index 0}}" cannot be computed`.
  static Result<GoTemplate> parse(std::string_view text);

  // `.name` is the member `name` of the data, an object; null when there is none.
  Result<std::string> execute(const JsonValue& data) const;

  struct Block;  // texts and actions, one after the other

 private:
  explicit GoTemplate(std::shared_ptr<const Block> block) : block_(std::move(block)) {}

  std::shared_ptr<const Block> block_;
};

}  // namespace berth::perf
