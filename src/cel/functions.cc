#include "cel/functions.h"

#include <utility>

#include "base/check.h"
#include "cel/library/library.h"

namespace berth::cel {

namespace {

// Reads "name(int, list(T)) -> bool".
class Signature {
 public:
  explicit Signature(std::string_view text) : rest_(text) {}

  bool member(TypeRef& receiver) {
    const std::size_t at = rest_.find("::");
    if (at == std::string_view::npos) return false;
    Signature of(rest_.substr(0, at));
    receiver = of.type();
    rest_.remove_prefix(at + 2);
    return true;
  }

  std::string word() {
    const std::size_t end = rest_.find_first_of("(), ");
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(word.size());
    return word;
  }

  std::vector<TypeRef> types() {
    std::vector<TypeRef> result;
    take("(");
    while (!rest_.starts_with(")")) {
      result.push_back(type());
      if (rest_.starts_with(", ")) rest_.remove_prefix(2);
    }
    take(")");
    return result;
  }

  TypeRef type() {
    const std::string name = word();
    std::vector<TypeRef> of;
    if (rest_.starts_with("(")) of = types();
    if (name == "list") return types::list(of[0]);
    if (name == "map") return types::map(of[0], of[1]);
    if (name == "optional") return types::optional(of[0]);
    if (name == "type") return types::type_of(of[0]);
    if (name.size() == 1) return types::param(name);
    for (const TypeRef& each :
         {types::dyn(), types::null(), types::boolean(), types::integer(),
          types::unsigned_integer(), types::floating(), types::string(), types::bytes()}) {
      if (each->name() == name) return each;
    }
    if (name == "duration") return types::duration();
    if (name == "timestamp") return types::timestamp();
    if (name == "quantity") return types::quantity();
    if (name == "semver") return types::semver();
    if (name == "url") return types::url();
    if (name == "ip") return types::ip();
    if (name == "cidr") return types::cidr();
    if (name == "format") return types::format();
    return types::object(name);
  }

  void take(std::string_view text) {
    BERTH_CHECK(rest_.starts_with(text));
    rest_.remove_prefix(text.size());
  }

 private:
  std::string_view rest_;
};

bool fits_all(const Overload& overload, std::span<const Value> args) {
  if (overload.args.size() != args.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!fits(args[i], *overload.args[i])) return false;
  }
  return true;
}

// Some types have methods of their own, asked when an operator does not know the type.
bool is_receiver(const Value& value) {
  return value.is(Kind::kString) || value.is(Kind::kDuration) || value.is(Kind::kTimestamp);
}

FunctionTable make_functions() {
  FunctionTable table;
  // In the order in which upstream's environment adds them: it is the order of overloads.
  add_operators(table);
  add_conversions(table);
  add_string_tests(table);
  add_time(table);
  add_urls(table);
  add_regexes(table);
  add_list_statistics(table);
  add_authorization(table);
  add_optionals(table);
  add_quantities(table);
  add_strings(table);
  add_sets(table);
  add_addresses(table);
  add_named_formats(table);
  add_semver(table);
  add_lists(table);
  add_devices(table);
  return table;
}

}  // namespace

void FunctionTable::add(std::string_view signature, std::string_view id, Implementation call) {
  Signature reader(signature);
  Overload overload;
  overload.id = id;
  overload.call = call;
  TypeRef receiver;
  overload.member = reader.member(receiver);
  if (overload.member) overload.args.push_back(receiver);
  Function& function = at(reader.word());
  for (TypeRef& each : reader.types()) overload.args.push_back(std::move(each));
  reader.take(" -> ");
  overload.result = reader.type();
  function.overloads.push_back(std::move(overload));
}

void FunctionTable::for_all(std::string_view name, Trait trait, Implementation call) {
  Function& function = at(name);
  function.for_all = call;
  function.trait = trait;
}

Function& FunctionTable::at(std::string_view name) {
  Function& function = functions_[std::string(name)];
  function.name = name;
  return function;
}

const Function* FunctionTable::find(std::string_view name) const {
  const auto found = functions_.find(std::string(name));
  return found == functions_.end() ? nullptr : &found->second;
}

const FunctionTable& functions() {
  static const FunctionTable table = make_functions();
  return table;
}

bool has_trait(const Value& value, Trait trait) {
  const Kind kind = value.kind();
  const bool number = kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble;
  const bool time = kind == Kind::kDuration || kind == Kind::kTimestamp;
  switch (trait) {
    case Trait::kNone: return true;
    case Trait::kAdd:
      return number || time || kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kList;
    case Trait::kCompare: return is_comparable(value);
    case Trait::kDivide:
    case Trait::kMultiply: return number;
    case Trait::kModulo: return kind == Kind::kInt || kind == Kind::kUint;
    case Trait::kNegate:
      return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kDouble ||
             kind == Kind::kDuration;
    case Trait::kSubtract: return number || time;
    case Trait::kSize:
      return kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kList ||
             kind == Kind::kMap;
    case Trait::kMatch: return kind == Kind::kString;
    case Trait::kList: return kind == Kind::kList;
  }
  return false;
}

Value no_such_overload(const std::string& function, std::span<const Value> args) {
  std::string text = "no such overload: " + function + "(";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_error()) return args[i];
    if (i > 0) text += ", ";
    text += type_name(args[i]);
  }
  return Value::error(text + ")");
}

Value call_function(const Function& function, const Overload* overload,
                    std::span<const Value> args) {
  if (function.for_all != nullptr) {
    if (has_trait(args[0], function.trait)) return function.for_all(args);
    if (is_receiver(args[0])) return no_such_overload();
    return Value::error("no such overload: " + function.name);
  }
  if (overload == nullptr && function.overloads.size() == 1) overload = &function.overloads[0];
  if (overload != nullptr) {
    if (overload->call == nullptr) return no_such_overload(function.name, args);
    if (!function.unguarded && !function.non_strict && !fits_all(*overload, args)) {
      return no_such_overload(function.name, args);
    }
    return overload->call(args);
  }
  for (const Overload& each : function.overloads) {
    if (each.call != nullptr && each.args.size() == args.size() &&
        (function.unguarded || fits_all(each, args))) {
      return each.call(args);
    }
  }
  return no_such_overload(function.name, args);
}

}  // namespace berth::cel
