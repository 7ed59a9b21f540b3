#include "cel/parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cel/lexer.h"
#include "cel/literals.h"
#include "cel/macros.h"

namespace berth::cel {

namespace {

constexpr std::size_t kMaxCodePoints = 100'000;
constexpr int kMaxDepth = 250;

constexpr std::array<std::string_view, 17> kReserved = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

constexpr const char* kOperandExpected =
    " expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
    "NUM_UINT, STRING, BYTES, IDENTIFIER}";

struct Operator {
  std::string_view sign;
  const char* function;
};
constexpr std::array<Operator, 7> kRelations = {{{"<", operators::kLess},
                                                 {"<=", operators::kLessEquals},
                                                 {">=", operators::kGreaterEquals},
                                                 {">", operators::kGreater},
                                                 {"==", operators::kEquals},
                                                 {"!=", operators::kNotEquals},
                                                 {"in", operators::kIn}}};
constexpr std::array<Operator, 3> kProducts = {
    {{"*", operators::kMultiply}, {"/", operators::kDivide}, {"%", operators::kModulo}}};
constexpr std::array<Operator, 2> kSums = {{{"+", operators::kAdd}, {"-", operators::kSubtract}}};

// By recursive descent. After the first syntax error nothing more is read: failed_ is set, every
// rule returns at once, and what it returns is not to be looked at.
class Parser {
 public:
  Parser(const Source& source, Issues& issues) : issues_(issues) {
    tokens_ = tokenize(source, issues);
  }

  Parsed run() {
    Parsed parsed;
    parsed.root = expression();
    if (!failed_ && token().kind != TokenKind::kEnd) {
      // Upstream's parser sees when one token is too many.
      const char* what = token(1).kind == TokenKind::kEnd ? "extraneous" : "mismatched";
      syntax_error(std::string(what) + " input '" + token().text + "' expecting <EOF>");
    }
    parsed.offsets = std::move(offsets_);
    return parsed;
  }

 private:
  // A rule of the grammar while it is being read. Upstream reads none more than so often inside
  // itself.
  class Rule {
   public:
    Rule(Parser& parser, int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) parser.too_deep("expression recursion limit exceeded: 250");
    }
    Rule(const Rule&) = delete;
    Rule& operator=(const Rule&) = delete;
    ~Rule() { --depth_; }

   private:
    int& depth_;
  };

  void too_deep(const char* what) {
    if (failed_) return;
    failed_ = true;
    issues_.add(-1, what);
  }

  // The expression just read stands on others, of which the highest has height `of`.
  void raise(int of) {
    height_ = of + 1;
    if (height_ > kMaxDepth) too_deep("max recursion depth exceeded");
  }

  const Token& token(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take() {
    Token taken = token();
    if (at_ + 1 < tokens_.size()) ++at_;
    return taken;
  }
  bool take_if(std::string_view punctuation) {
    if (failed_ || !token().is(punctuation)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view punctuation) {
    if (failed_ || take_if(punctuation)) return;
    if (token().kind == TokenKind::kEnd && punctuation == ")") {
      return syntax_error("missing ')' at '<EOF>'");
    }
    syntax_error("mismatched input '" + token().text + "' expecting '" + std::string(punctuation) +
                 "'");
  }

  void syntax_error(std::string message) {
    if (failed_) return;
    failed_ = true;
    issues_.add(token().offset, "Syntax error: " + std::move(message));
  }

  std::int64_t new_id(std::int32_t offset) {
    if (offsets_.empty()) offsets_.push_back(-1);  // 0 is no id
    offsets_.push_back(offset);
    return static_cast<std::int64_t>(offsets_.size()) - 1;
  }
  std::int32_t offset(std::int64_t id) const { return offsets_[static_cast<std::size_t>(id)]; }

  ExprPtr make(ExprKind kind, std::int32_t offset) {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->id = new_id(offset);
    return expr;
  }
  ExprPtr complain(std::int32_t offset, std::string message) {
    issues_.add(offset, std::move(message));
    return make(ExprKind::kUnspecified, offset);
  }

  // A call, or what a macro makes of it. `id` is the call's own.
  ExprPtr call(std::int64_t id, std::string function, ExprPtr target, std::vector<ExprPtr> args) {
    if (!failed_ && issues_.empty()) {
      const ExprFactory factory([&] { return new_id(offset(id)); },
                                [&](std::int64_t of) { return new_id(offset(of)); });
      Expansion expansion = expand_macro(factory, function, target, args);
      if (expansion.outcome == Expansion::Outcome::kMisused) {
        return complain(offset(expansion.at), std::move(expansion.complaint));
      }
      if (expansion.outcome == Expansion::Outcome::kExpanded) return std::move(expansion.expr);
    }
    auto expr = std::make_unique<Expr>();
    expr->kind = ExprKind::kCall;
    expr->id = id;
    expr->name = std::move(function);
    expr->target = std::move(target);
    expr->args = std::move(args);
    return expr;
  }
  ExprPtr binary(std::int64_t id, const char* function, ExprPtr left, ExprPtr right) {
    std::vector<ExprPtr> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    return call(id, function, nullptr, std::move(args));
  }

  ExprPtr expression() {
    const Rule rule(*this, expression_depth_);
    ExprPtr condition = logical("||", operators::kOr);
    if (failed_ || !token().is("?")) return condition;
    const std::int64_t id = new_id(take().offset);
    int highest = height_;
    ExprPtr yes = logical("||", operators::kOr);
    highest = std::max(highest, height_);
    expect(":");
    if (failed_) return condition;
    std::vector<ExprPtr> args;
    args.push_back(std::move(condition));
    args.push_back(std::move(yes));
    args.push_back(expression());
    raise(std::max(highest, height_));
    return call(id, operators::kConditional, nullptr, std::move(args));
  }

  // A chain of || or of &&, as a balanced tree.
  ExprPtr logical(std::string_view sign, const char* function) {
    const auto operand = [&] { return sign == "||" ? logical("&&", operators::kAnd) : relation(); };
    std::vector<ExprPtr> terms;
    std::vector<std::int64_t> ids;
    terms.push_back(operand());
    int highest = height_;
    while (!failed_ && token().is(sign)) {
      const std::int32_t at = take().offset;
      terms.push_back(operand());
      highest = std::max(highest, height_);
      ids.push_back(new_id(at));
    }
    height_ = highest;
    if (failed_ || terms.size() == 1) return std::move(terms[0]);
    return balanced(terms, ids, function, 0, ids.size() - 1);
  }

  static ExprPtr balanced(std::vector<ExprPtr>& terms, const std::vector<std::int64_t>& ids,
                          const char* function, std::size_t first, std::size_t last) {
    const std::size_t middle = (first + last + 1) / 2;
    auto expr = std::make_unique<Expr>();
    expr->kind = ExprKind::kCall;
    expr->id = ids[middle];
    expr->name = function;
    expr->args.push_back(middle == first ? std::move(terms[middle])
                                         : balanced(terms, ids, function, first, middle - 1));
    expr->args.push_back(middle == last ? std::move(terms[middle + 1])
                                        : balanced(terms, ids, function, middle + 1, last));
    return expr;
  }

  template <std::size_t N>
  const char* operator_here(const std::array<Operator, N>& table) const {
    if (failed_ || token().kind != TokenKind::kPunctuation) return nullptr;
    for (const Operator& each : table) {
      if (token().text == each.sign) return each.function;
    }
    return nullptr;
  }

  // A chain of operators of the same rank, from the left. `depth` counts the right sides that are
  // being read.
  template <std::size_t N>
  ExprPtr chain(const std::array<Operator, N>& table, int& depth, ExprPtr (Parser::*operand)()) {
    ExprPtr left = (this->*operand)();
    while (const char* function = operator_here(table)) {
      const int highest = height_;
      const std::int64_t id = new_id(take().offset);
      const Rule right_side(*this, depth);
      ExprPtr right = (this->*operand)();
      if (failed_) break;
      raise(std::max(highest, height_));
      left = binary(id, function, std::move(left), std::move(right));
    }
    return left;
  }

  ExprPtr relation() {
    const Rule rule(*this, relation_depth_);
    return chain(kRelations, relation_depth_, &Parser::sum);
  }
  ExprPtr sum() {
    const Rule rule(*this, sum_depth_);
    return chain(kSums, sum_depth_, &Parser::product);
  }
  // Sums and products are one rule upstream.
  ExprPtr product() { return chain(kProducts, sum_depth_, &Parser::unary); }

  static bool is_number(const Token& token) {
    return token.kind == TokenKind::kInt || token.kind == TokenKind::kDouble;
  }

  ExprPtr unary() {
    for (const auto& [sign, function] :
         {Operator{"!", operators::kNot}, Operator{"-", operators::kNegate}}) {
      if (failed_ || !token().is(sign) || (sign == "-" && is_number(token(1)))) continue;
      const std::int32_t first = token().offset;
      std::size_t count = 0;
      while (take_if(sign)) ++count;
      if (count % 2 == 0) return member();
      const std::int64_t id = new_id(first);
      std::vector<ExprPtr> args;
      args.push_back(member());
      if (failed_) return std::move(args[0]);
      return call(id, function, nullptr, std::move(args));
    }
    return member();
  }

  ExprPtr member() {
    ExprPtr expr = primary();
    while (!failed_ && (token().is(".") || token().is("["))) {
      expr = token().is(".") ? selection(std::move(expr)) : index(std::move(expr));
    }
    return expr;
  }

  ExprPtr selection(ExprPtr operand) {
    const Token dot = take();
    const bool optional = take_if("?");
    Token name = token();
    const bool quoted = name.kind == TokenKind::kQuotedIdentifier;
    if (name.kind != TokenKind::kIdentifier && !quoted) {
      syntax_error("no viable alternative at input '." + name.text + "'");
      return operand;
    }
    take();
    if (quoted) name.text = name.text.substr(1, name.text.size() - 2);
    const int operand_height = height_;
    if (optional) {
      raise(operand_height);
      auto expr = make(ExprKind::kCall, dot.offset);
      expr->name = operators::kOptionalSelect;
      auto field = make(ExprKind::kLiteral, name.offset);
      field->literal = Value::string(name.text);
      expr->args.push_back(std::move(operand));
      expr->args.push_back(std::move(field));
      return expr;
    }
    if (token().is("(") && !quoted) {
      const std::int64_t id = new_id(token().offset);
      std::vector<ExprPtr> args = arguments();
      if (failed_) return operand;
      raise(std::max(operand_height, height_));
      return call(id, name.text, std::move(operand), std::move(args));
    }
    raise(operand_height);
    auto expr = make(ExprKind::kSelect, dot.offset);
    expr->name = name.text;
    expr->target = std::move(operand);
    return expr;
  }

  ExprPtr index(ExprPtr operand) {
    const std::int64_t id = new_id(take().offset);
    const char* function = take_if("?") ? operators::kOptionalIndex : operators::kIndex;
    const int operand_height = height_;
    ExprPtr at = expression();
    expect("]");
    if (failed_) return operand;
    raise(std::max(operand_height, height_));
    return binary(id, function, std::move(operand), std::move(at));
  }

  // From "(" to ")".
  std::vector<ExprPtr> arguments() {
    std::vector<ExprPtr> args;
    height_ = 0;
    int highest = 0;
    expect("(");
    if (take_if(")")) return args;
    do {
      args.push_back(expression());
      highest = std::max(highest, height_);
    } while (take_if(","));
    height_ = highest;
    expect(")");
    return args;
  }

  ExprPtr primary() {
    height_ = 0;
    if (failed_) return std::make_unique<Expr>();
    if (take_if("(")) {
      ExprPtr inner = expression();
      expect(")");
      return inner;
    }
    if (token().is("[")) return list();
    if (token().is("{")) return map();
    const bool dot = token().is(".") && token(1).kind == TokenKind::kIdentifier;
    if (dot || token().kind == TokenKind::kIdentifier) return named();
    return literal();
  }

  // A variable, a call or a message.
  ExprPtr named() {
    const std::int32_t begin = token().offset;
    const bool dot = take_if(".");
    std::size_t ahead = 1;
    while (token(ahead).is(".") && token(ahead + 1).kind == TokenKind::kIdentifier) ahead += 2;
    if (token(ahead).is("{")) return message(dot, ahead);
    const Token name = take();
    if (std::find(kReserved.begin(), kReserved.end(), name.text) != kReserved.end()) {
      if (token().is("(")) arguments();
      return complain(begin, "reserved identifier: " + name.text);
    }
    const std::string full = (dot ? "." : "") + name.text;
    if (token().is("(")) {
      const std::int64_t id = new_id(token().offset);
      std::vector<ExprPtr> args = arguments();
      return call(id, full, nullptr, std::move(args));
    }
    auto expr = make(ExprKind::kIdent, name.offset);
    expr->name = full;
    return expr;
  }

  ExprPtr message(bool dot, std::size_t names) {
    std::string type = dot ? "." : "";
    for (std::size_t i = 0; i < names; ++i) type += take().text;
    auto expr = make(ExprKind::kStruct, token().offset);
    expr->name = type;
    expect("{");
    while (!failed_ && !token().is("}") && !token().is(",")) {
      expr->optional.push_back(take_if("?"));
      if (token().kind != TokenKind::kIdentifier) {
        syntax_error("mismatched input '" + token().text + "' expecting IDENTIFIER");
        break;
      }
      expr->field_names.push_back(take().text);
      expr->entry_ids.push_back(new_id(token().offset));
      expect(":");
      expr->args.push_back(expression());
      if (!token().is(",") || token(1).is("}")) break;
      take();
    }
    take_if(",");
    expect("}");
    return expr;
  }

  ExprPtr list() {
    auto expr = make(ExprKind::kList, take().offset);
    int highest = 0;
    while (!failed_ && !token().is("]") && !token().is(",")) {
      expr->optional.push_back(take_if("?"));
      expr->args.push_back(expression());
      highest = std::max(highest, height_);
      if (!token().is(",") || token(1).is("]")) break;
      take();
    }
    height_ = highest;
    take_if(",");
    expect("]");
    return expr;
  }

  ExprPtr map() {
    auto expr = make(ExprKind::kMap, take().offset);
    int highest = 0;
    while (!failed_ && !token().is("}") && !token().is(",")) {
      expr->optional.push_back(take_if("?"));
      ExprPtr key = expression();
      highest = std::max(highest, height_);
      expr->entry_ids.push_back(new_id(token().offset));
      expect(":");
      expr->args.push_back(std::move(key));
      expr->args.push_back(expression());
      highest = std::max(highest, height_);
      if (!token().is(",") || token(1).is("}")) break;
      take();
    }
    height_ = highest;
    take_if(",");
    expect("}");
    return expr;
  }

  ExprPtr literal() {
    const std::int32_t begin = token().offset;
    const bool negative = token().is("-") && is_number(token(1));
    if (negative) take();
    auto value = literal_value(token(), negative);
    if (!value) {
      if (value.error().kind == ErrorKind::kNotFound) {
        syntax_error("mismatched input '" + token().text + "'" + kOperandExpected);
        return std::make_unique<Expr>();
      }
      take();
      return complain(begin, value.error().message);
    }
    take();
    auto expr = make(ExprKind::kLiteral, begin);
    expr->literal = std::move(*value);
    return expr;
  }

  Issues& issues_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::vector<std::int32_t> offsets_;
  int expression_depth_ = 0;
  int relation_depth_ = 0;
  int sum_depth_ = 0;
  int height_ = 0;
};

}  // namespace

Parsed parse(const Source& source, Issues& issues) {
  if (const std::size_t size = source.runes().size(); size > kMaxCodePoints) {
    issues.add(-1, "expression code point size exceeds limit: size: " + std::to_string(size) +
                       ", limit " + std::to_string(kMaxCodePoints));
    return {};
  }
  return Parser(source, issues).run();
}

}  // namespace berth::cel
