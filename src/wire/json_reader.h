// JsonReader: a cursor over one JSON object that walks it once, field by field, and knows where it
// is. For decoders.
//
//   JsonReader json(text);
//   json.fields([&](std::string_view name) {
//     if (name == "replicas") replicas = json.int32();
//     else if (name == "items") json.items([&] { names.emplace_back(json.text()); });
//   });
//   if (auto error = json.error()) …      // "items[3]: expected a string, got a number"
//
// Reading goes on until something is wrong; from then on loops end and values are empty, so that
// decoders need no checks of their own. A field that is null counts as absent. Text that is handed
// out lives as long as the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth {

class JsonReader {
  struct State;

 public:
  // What a reader needs beside the text. Readers that use the same one after the other do not ask
  // for memory again. It outlives them; texts that they handed out end with the next reader.
  class Memory {
   public:
    Memory();
    ~Memory();

   private:
    friend class JsonReader;
    std::unique_ptr<State> state_;
  };

  explicit JsonReader(std::string_view json);
  JsonReader(std::string_view json, Memory& memory);
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;
  ~JsonReader();

  // Calls on_field(name) for every field of the object at hand that is not null. What on_field does
  // not read is skipped.
  template <typename OnField>
  void fields(OnField&& on_field) {
    if (!enter(Shape::kObject)) return;
    std::string_view name;
    while (next_field(name, /*with_null=*/false)) on_field(name);
  }

  // The same for maps that people choose the keys of: an entry may be null.
  template <typename OnEntry>
  void entries(OnEntry&& on_entry) {
    if (!enter(Shape::kObject)) return;
    std::string_view name;
    while (next_field(name, /*with_null=*/true)) on_entry(name);
  }

  // Calls on_item() for every item of the list at hand.
  template <typename OnItem>
  void items(OnItem&& on_item) {
    if (!enter(Shape::kArray)) return;
    while (next_item()) on_item();
  }

  // The value at hand. Of null these are empty.
  std::string_view text();
  bool boolean();
  std::int32_t int32();
  std::int64_t int64();
  std::optional<WallTime> time();  // RFC 3339; null: none
  // A number, as it is written, or a string; of null and of anything else, which is an error that
  // names what was expected: nothing.
  std::optional<std::string_view> number_or_text(std::string_view expected);
  std::string_view raw();  // its JSON, as it stands

  // Something is wrong with the value at hand.
  void fail(std::string_view message);

  // The first thing that was wrong, with the path to it.
  const std::optional<Error>& error() const;

 private:
  enum class Shape : std::uint8_t { kObject, kArray };

  bool enter(Shape shape);
  bool next_field(std::string_view& name, bool with_null);
  bool next_item();
  std::optional<std::int64_t> integer();

  void start(std::string_view json);

  std::unique_ptr<State> own_;  // null: the memory is the caller's
  State* state_;
};

}  // namespace berth
