#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "explain/decision_text.h"
#include "wire/json_text.h"

namespace berth::explain {
namespace {

// JSON, indented by one space a level or all on one line, fields in the order in which they are
// written.
class Writer {
 public:
  enum class Layout : std::uint8_t { kIndented, kOneLine };
  explicit Writer(Layout layout) : layout_(layout) {}

  void begin(char bracket) {
    out_.push_back(bracket);
    ++depth_;
    first_ = true;
  }
  void end(char bracket) {
    --depth_;
    if (!first_) new_line();
    out_.push_back(bracket);
    first_ = false;
  }
  void item() {
    if (!first_) out_.push_back(',');
    first_ = false;
    new_line();
  }
  void key(std::string_view name) {
    item();
    append_json_string(out_, name);
    out_ += ": ";
  }

  void value(std::string_view text) { append_json_string(out_, text); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::int64_t number) { out_ += std::to_string(number); }
  void value(const std::vector<std::string>& list) {
    begin('[');
    for (const std::string& text : list) {
      item();
      value(text);
    }
    end(']');
  }
  void value(const Verdict& verdict) {
    begin('{');
    field("code", to_string(verdict.code));
    field_if("plugin", verdict.plugin);
    field_if("reasons", verdict.reasons);
    end('}');
  }
  void value(const std::vector<Verdict>& verdicts) {
    begin('[');
    for (const Verdict& verdict : verdicts) {
      item();
      value(verdict);
    }
    end(']');
  }
  void value(const Narrowing& narrowing) {
    begin('{');
    field("by", narrowing.by);
    field("to", narrowing.to);
    end('}');
  }
  void value(const PreemptionOutcome& preempt) {
    begin('{');
    field_if("node", preempt.node);
    field_if("victims", preempt.victims);
    field_if("message", preempt.message);
    end('}');
  }
  template <typename Value>
  void value(const std::map<std::string, Value>& map) {
    begin('{');
    for (const auto& [name, of_name] : map) field(name, of_name);
    end('}');
  }
  void value(const PodDecision& decision) {
    begin('{');
    field("pod", decision.pod);
    if (decision.pre_filter) field("preFilter", *decision.pre_filter);
    if (decision.narrowed) field("narrowed", *decision.narrowed);
    field_if("rejected", decision.rejected);
    field_if("alsoRejected", decision.also_rejected);
    field_if("scores", decision.scores);
    field_if("totals", decision.totals);
    field_if("best", decision.best);
    field_if("chosen", decision.chosen);
    field_if("message", decision.message);
    field_if("unschedulablePlugins", decision.unschedulable_plugins);
    field_if("pendingPlugins", decision.pending_plugins);
    if (decision.preempt) field("preempt", *decision.preempt);
    field_if("error", decision.error);
    end('}');
  }

  template <typename Value>
  void field(std::string_view name, const Value& of_name) {
    key(name);
    value(of_name);
  }
  template <typename Value>
  void field_if(std::string_view name, const Value& of_name) {
    if (!of_name.empty()) field(name, of_name);
  }

  std::string done() && { return std::move(out_); }

 private:
  void new_line() {
    if (layout_ == Layout::kOneLine) {
      if (out_.back() == ',') out_.push_back(' ');
      return;
    }
    out_.push_back('\n');
    out_.append(depth_, ' ');
  }

  const Layout layout_;
  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

}  // namespace

std::string to_json(std::span<const PodDecision> decisions) {
  Writer json(Writer::Layout::kIndented);
  json.begin('{');
  json.key("decisions");
  json.begin('[');
  for (const PodDecision& decision : decisions) {
    json.item();
    json.value(decision);
  }
  json.end(']');
  json.end('}');
  return std::move(json).done() + '\n';
}

std::string to_json_line(const PodDecision& decision) {
  Writer json(Writer::Layout::kOneLine);
  json.value(decision);
  return std::move(json).done();
}

}  // namespace berth::explain
