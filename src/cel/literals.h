// Literals: the values that tokens stand for.
#pragma once

#include "berth/result.h"
#include "cel/lexer.h"
#include "cel/value.h"

namespace berth::cel {

// kNotFound if the token is no literal; another error describes what is wrong with it.
Result<Value> literal_value(const Token& token, bool negative);

}  // namespace berth::cel
