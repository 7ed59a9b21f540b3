#include "cel/expression.h"

#include <algorithm>
#include <utility>

#include "cel/checker.h"
#include "cel/parser.h"
#include "cel/source.h"

namespace berth::cel {

const TypeRef* Environment::field(std::string_view type, std::string_view name) const {
  const auto fields = objects.find(type);
  if (fields == objects.end()) return nullptr;
  const auto found = std::find_if(fields->second.begin(), fields->second.end(),
                                  [&](const auto& field) { return field.first == name; });
  return found == fields->second.end() ? nullptr : &found->second;
}

const Environment& device_environment() {
  static const Environment environment = [] {
    Environment made;
    made.variables = {{"device", types::device()}};
    const TypeRef attributes = types::map(types::string(), types::dyn());
    const TypeRef capacities = types::map(types::string(), types::quantity());
    made.objects[types::device()->name()] = {
        {"driver", types::string()},
        {"allowMultipleAllocations", types::boolean()},
        {"attributes", types::map(types::string(), attributes)},
        {"capacity", types::map(types::string(), capacities)}};
    return made;
  }();
  return environment;
}

Result<std::shared_ptr<const Expression>> Expression::compile(std::string_view text,
                                                              const Environment& environment,
                                                              const Accept& accept) {
  const auto wrong = [](std::string message) {
    return fail(ErrorKind::kInvalid, std::move(message));
  };
  const Source source(text);
  Issues issues(source);
  const auto failed = [&] { return wrong("compilation failed: " + issues.text()); };
  Parsed parsed = parse(source, issues);
  if (!issues.empty()) return failed();
  const Checked checked = check(parsed, environment, issues);
  if (!issues.empty()) return failed();
  validate(parsed, checked, issues);
  if (!issues.empty()) return failed();
  if (std::string complaint = accept(*checked.type(*parsed.root)); !complaint.empty())
    return wrong(std::move(complaint));
  auto program = plan(parsed, checked, environment);
  if (!program) return wrong("program instantiation failed: " + program.error().message);

  std::set<std::string, std::less<>> used;
  for (const auto& [id, reference] : checked.references) {
    const auto same = [&name = reference.name](const auto& one) { return one.first == name; };
    if (!reference.is_type && reference.function == nullptr &&
        std::any_of(environment.variables.begin(), environment.variables.end(), same))
      used.insert(reference.name);
  }
  return std::shared_ptr<const Expression>(new Expression(std::move(*program), std::move(used)));
}

Expression::Outcome Expression::evaluate(std::span<const Value> variables, std::uint64_t cost_limit,
                                         const WorkLimits& work) const {
  Evaluation evaluation(variables, cost_limit, work);
  Outcome outcome;
  outcome.value = program_.root->evaluate(evaluation);
  outcome.cost = evaluation.cost.cost();
  outcome.interrupted = evaluation.cost.interrupted();
  return outcome;
}

}  // namespace berth::cel
