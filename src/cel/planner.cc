#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "cel/attributes.h"
#include "cel/library/regex.h"
#include "cel/nodes.h"
#include "cel/program.h"
#include "cel/syntax.h"

namespace berth::cel {

namespace {

constexpr std::array<std::string_view, 10> kConversions = {
    "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};

class Planner {
 public:
  Planner(const Checked& checked, const Environment& environment) : checked_(checked) {
    for (const auto& [name, type] : environment.variables) number(name);
    // The same ones by the names that no fold hides.
    for (const auto& [name, type] : environment.variables) number("." + name);
  }

  NodePtr plan(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral: return std::make_unique<ConstantNode>(expr.id, expr.literal);
      case ExprKind::kIdent: return plan_name(expr);
      case ExprKind::kSelect: return plan_select(expr);
      case ExprKind::kCall: return plan_call(expr);
      case ExprKind::kList: return plan_container<ListNode>(expr);
      case ExprKind::kMap: return plan_container<MapNode>(expr);
      case ExprKind::kFold: return plan_fold(expr);
      case ExprKind::kStruct:
      case ExprKind::kUnspecified: break;
    }
    return wrong(expr, "unsupported expression");
  }

  const std::string& error() const { return error_; }

 private:
  // The first thing that is wrong counts; something has to stand for the expression.
  NodePtr wrong(const Expr& expr, std::string error) {
    if (error_.empty()) error_ = std::move(error);
    return std::make_unique<ConstantNode>(expr.id, Value());
  }

  int number(const std::string& variable) {
    return variables_.try_emplace(variable, static_cast<int>(variables_.size())).first->second;
  }

  NodePtr plan_name(const Expr& expr) {
    const Checked::Reference* reference = checked_.reference(expr);
    if (reference == nullptr) return wrong(expr, "unresolved name: " + expr.name);
    if (reference->is_type) {
      return std::make_unique<ConstantNode>(expr.id, Value::type(reference->type));
    }
    return std::make_unique<AttributeNode>(expr.id,
                                           Attribute::variable(expr.id, number(reference->name)));
  }

  // The attribute that a node is, or one that begins with its value.
  static std::shared_ptr<Attribute> attribute_of(NodePtr node) {
    if (auto attribute = node->attribute()) return attribute;
    const std::int64_t id = node->id();
    return Attribute::of(id, std::move(node));
  }

  NodePtr plan_select(const Expr& expr) {
    if (checked_.reference(expr) != nullptr) return plan_name(expr);
    auto attribute = attribute_of(plan(*expr.target));
    auto qualifier = std::make_shared<Qualifier>();
    qualifier->id = expr.id;
    qualifier->key = Value::string(expr.name);
    qualifier->test_only = expr.test_only;
    attribute->add(qualifier);
    return std::make_unique<AttributeNode>(expr.id, std::move(attribute), expr.test_only);
  }

  NodePtr plan_index(const Expr& expr, NodePtr operand, NodePtr index, bool optional) {
    auto attribute = attribute_of(std::move(operand));
    auto qualifier = std::make_shared<Qualifier>();
    qualifier->id = expr.id;
    qualifier->optional = optional;
    if (const Value* key = index->constant()) {
      if (std::string error = not_a_key(*key); !error.empty()) return wrong(expr, std::move(error));
      qualifier->key = *key;
    } else if (auto way = index->attribute()) {
      qualifier->computed = std::move(way);
    } else {
      qualifier->computed = Attribute::of(expr.id, std::move(index));
    }
    attribute->add(qualifier);
    return std::make_unique<AttributeNode>(expr.id, std::move(attribute));
  }

  // Receiver and arguments, or elements.
  std::vector<NodePtr> plan_parts(const Expr& expr) {
    std::vector<NodePtr> nodes;
    if (expr.target) nodes.push_back(plan(*expr.target));
    for (const ExprPtr& arg : expr.args) nodes.push_back(plan(*arg));
    return nodes;
  }

  static bool all_constant(const std::vector<NodePtr>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const NodePtr& node) { return node->constant() != nullptr; });
  }

  template <typename ContainerNode>
  NodePtr plan_container(const Expr& expr) {
    std::vector<NodePtr> parts = plan_parts(expr);
    const bool constant = all_constant(parts);
    auto node = std::make_unique<ContainerNode>(expr.id, std::move(parts), expr.optional);
    return fold_constants(expr, std::move(node), constant);
  }

  // The node's value in its place, if it depends on nothing.
  NodePtr fold_constants(const Expr& expr, NodePtr node, bool constant) {
    if (!constant) return node;
    Evaluation evaluation({}, ~std::uint64_t{0}, WorkLimits());
    Value value = node->evaluate(evaluation);
    if (value.is_error()) return wrong(expr, value.as_error().text);
    return std::make_unique<ConstantNode>(expr.id, std::move(value));
  }

  NodePtr plan_call(const Expr& expr) {
    std::vector<NodePtr> args = plan_parts(expr);
    const std::string& name = expr.name;
    if (name == operators::kAnd || name == operators::kOr) {
      return std::make_unique<LogicalNode>(expr.id, name == operators::kOr, std::move(args));
    }
    if (name == operators::kConditional) {
      auto yes = attribute_of(std::move(args[1]));
      auto no = attribute_of(std::move(args[2]));
      return std::make_unique<AttributeNode>(
          expr.id, Attribute::choice(expr.id, std::move(args[0]), std::move(yes), std::move(no)));
    }
    if (name == operators::kEquals || name == operators::kNotEquals) {
      return std::make_unique<EqualityNode>(expr.id, name == operators::kNotEquals,
                                            std::move(args));
    }
    if (name == operators::kIndex) {
      return plan_index(expr, std::move(args[0]), std::move(args[1]), false);
    }
    if (name == operators::kOptionalIndex || name == operators::kOptionalSelect) {
      return plan_index(expr, std::move(args[0]), std::move(args[1]), true);
    }
    const Checked::Reference* reference = checked_.reference(expr);
    if (reference == nullptr || reference->function == nullptr) {
      return wrong(expr, "no such overload: " + name);
    }
    return plan_function(expr, *reference, std::move(args));
  }

  NodePtr plan_function(const Expr& expr, const Checked::Reference& reference,
                        std::vector<NodePtr> args) {
    const Function& function = *reference.function;
    const Overload* overload = reference.overloads.size() == 1 ? reference.overloads[0] : nullptr;
    if ((function.name == "or" || function.name == "orValue") && args.size() == 2) {
      return std::make_unique<OptionalOrNode>(expr.id, function.name == "orValue",
                                              std::move(args[0]), std::move(args[1]));
    }
    if (overload != nullptr && overload->id == "in_list") {
      if (const Value* list = args[1]->constant()) {
        if (list->as_list().empty()) {
          return std::make_unique<ConstantNode>(expr.id, Value::boolean(false));
        }
        if (auto set = MembershipNode::set_of(list->as_list())) {
          return std::make_unique<MembershipNode>(expr.id, std::move(args[0]), std::move(set));
        }
      }
    }
    std::shared_ptr<const Regex> regex;
    if (args.size() >= 2 && takes_regex(function.name)) {
      if (const Value* pattern = args[1]->constant(); pattern && pattern->is(Kind::kString)) {
        auto compiled = Regex::compile(pattern->as_string());
        if (!compiled) return wrong(expr, compiled.error().message);
        regex = std::move(*compiled);
      }
    }
    const bool conversion =
        args.size() == 1 && all_constant(args) &&
        std::find(kConversions.begin(), kConversions.end(), function.name) != kConversions.end();
    auto call = std::make_unique<CallNode>(expr.id, function, overload, std::move(args));
    if (regex) call->use(std::move(regex));
    return fold_constants(expr, std::move(call), conversion);
  }

  NodePtr plan_fold(const Expr& expr) {
    FoldNode::Parts parts;
    parts.accumulator = number(expr.accumulator);
    parts.variable = number(expr.variable);
    if (!expr.second_variable.empty()) parts.second_variable = number(expr.second_variable);
    parts.init = plan(expr.part(Expr::kInit));
    parts.range = plan(expr.part(Expr::kRange));
    parts.condition = plan(expr.part(Expr::kCondition));
    parts.step = plan(expr.part(Expr::kStep));
    parts.result = plan(expr.part(Expr::kResult));
    return std::make_unique<FoldNode>(expr.id, std::move(parts));
  }

  const Checked& checked_;
  std::map<std::string, int> variables_;
  std::string error_;
};

}  // namespace

Result<Program> plan(const Parsed& parsed, const Checked& checked, const Environment& environment) {
  Planner planner(checked, environment);
  Program program;
  program.root = planner.plan(*parsed.root);
  if (!planner.error().empty()) return fail(ErrorKind::kInvalid, planner.error());
  return program;
}

}  // namespace berth::cel
