// Tokens of service accounts: made by POST on serviceaccounts/token, and told apart from others by
// a signature of this server. They are JSON web tokens signed with a key that only this process has
// (HS256), so that nobody else can check them but by a TokenReview. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "memapi/api_error.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

class ServiceAccountTokens {
 public:
  // Who presents a token.
  struct Account {
    std::string namespace_name;
    std::string name;
    std::string uid;

    std::string user() const;  // "system:serviceaccount:default:robot"
  };

  // `key` signs; what is passed by reference outlives this.
  ServiceAccountTokens(const Store& store, const Loop& loop, std::string key)
      : store_(store), loop_(loop), key_(std::move(key)) {}

  // The answer to a TokenRequest for the account.
  Answer<JsonValue> issue(std::string_view namespace_name, std::string_view name,
                          JsonValue request) const;
  // Nothing for a token that is not one of these, has expired, or whose account is gone.
  std::optional<Account> verify(std::string_view token) const;

 private:
  Answer<ObjectRef> bound_object(std::string_view namespace_name, const JsonValue& spec) const;
  std::string sign(std::string_view text) const;

  const Store& store_;
  const Loop& loop_;
  const std::string key_;
};

}  // namespace berth::memapi
